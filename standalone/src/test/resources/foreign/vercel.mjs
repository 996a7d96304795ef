import { createOpenAI } from '@ai-sdk/openai'
import { generateText, streamText } from 'ai'
import OpenAI from 'openai'

const [base, crashing] = process.argv.slice(2)
const agent = baseURL => createOpenAI({ baseURL, apiKey: 'none' }).responses('careful')
const model = agent(base)
const found = {}
const first = await generateText({ model, system: 'Be brief.', prompt: 'remember 42', maxRetries: 0 })
found.first = [first.text, first.usage.totalTokens, first.finishReason]
const messages = [
  { role: 'system', content: 'Be brief.' }, { role: 'user', content: 'remember 42' },
  ...first.response.messages, { role: 'user', content: 'which number?' }
]
found.second = (await generateText({ model, messages, maxRetries: 0, allowSystemInMessages: true })).text
const stream = streamText({ model, prompt: 'piece by piece', maxRetries: 0 })
found.pieces = []
for await (const piece of stream.textStream) found.pieces.push(piece)
const asked = await generateText({ model, prompt: 'write twice', maxRetries: 0 })
found.asked = asked.content.map(part => part.type)

// a gateway dies in the middle of a stream of each; both ask another one again, as their users would
const key = crypto.randomUUID()
const heard = { sdk: '', chat: '' }
const hear = (who, piece) => {
  heard[who] += piece ?? ''
  if (heard.sdk === 'One ' && heard.chat === 'One ') console.error('KILL')
}
/** With a key of its own the same request is the same task. */
const sdk = async (baseURL, onPiece) => {
  const pieces = streamText({ model: agent(baseURL), prompt: 'piece by piece', maxRetries: 0, onError: () => {},
    headers: { 'Idempotency-Key': key } })
  for await (const part of pieces.fullStream) {
    if (part.type === 'error') throw part.error
    if (part.type === 'text-delta') onPiece(part.text)
  }
}
/** A plain chat has no id: the same request is a new task. */
const chat = async (baseURL, onPiece) => {
  const pieces = await new OpenAI({ baseURL, apiKey: 'none', maxRetries: 0 }).chat.completions.create(
    { model: 'careful', messages: [{ role: 'user', content: 'piece by piece' }], stream: true })
  let finished = false
  for await (const piece of pieces) {
    onPiece(piece.choices[0]?.delta?.content)
    finished ||= Boolean(piece.choices[0]?.finish_reason)
  }
  if (!finished) throw new Error('the stream has no end')
}
const dies = attempt => attempt.then(() => false, () => true)
found.died = await Promise.all([
  dies(sdk(crashing, piece => hear('sdk', piece))), dies(chat(crashing, piece => hear('chat', piece)))])
found.again = { sdk: '', chat: '' }
await sdk(base, piece => { found.again.sdk += piece })
await chat(base, piece => { found.again.chat += piece ?? '' })
found.task = key
console.log(JSON.stringify(found))
process.exit(0)

import { createOpenAI } from '@ai-sdk/openai'
import { generateText, streamText } from 'ai'

const model = createOpenAI({ baseURL: process.argv[2], apiKey: 'none' }).responses('careful')
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
console.log(JSON.stringify(found))

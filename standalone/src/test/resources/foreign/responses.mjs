import OpenAI from 'openai'

const [base, crashing] = process.argv.slice(2)
const client = new OpenAI({ baseURL: base, apiKey: 'none', maxRetries: 0 })
const create = (input, more = {}) => client.responses.create({ model: 'careful', input, ...more })
const shown = response => ({
  status: response.status,
  text: response.output_text,
  items: response.output.map(item => [item.type, item.status].filter(Boolean).join(':')),
  tokens: response.usage?.total_tokens
})
const all = async stream => {
  const events = []
  for await (const event of await stream) events.push(event)
  return events
}
const text = events => events.filter(event => event.type === 'response.output_text.delta')
  .map(event => event.delta).join('')
const failure = async attempt => {
  try { return await attempt() } catch (e) { return { status: e.status, code: e.code, param: e.param } }
}
const found = {}

const first = await create('hello', { metadata: { order: '17' } })
found.first = { ...shown(first), id: first.id, model: first.model, metadata: first.metadata }
found.again = shown(await client.responses.retrieve(first.id))
found.next = shown(await create('and now', { previous_response_id: first.id }))
found.tool = (await create('use a tool')).output
const question = await create('ask me')
found.question = shown(question)
found.answered = shown(await create('blue', { previous_response_id: question.id }))
await create('remember 42', { conversation: 'c1' })
found.conversation = shown(await create('which number?', { conversation: 'c1' }))

const asked = await create('write twice')
found.asked = shown(asked)
const [one, two] = asked.output.filter(item => item.type === 'mcp_approval_request')
const half = await create([{ type: 'mcp_approval_response', approval_request_id: one.id, approve: true }],
  { previous_response_id: asked.id })
found.half = shown(half)
found.decided = shown(await create(
  [{ type: 'mcp_approval_response', approval_request_id: two.id, approve: false, reason: 'no' }],
  { previous_response_id: half.id }))
found.twice = await failure(() => create(
  [{ type: 'mcp_approval_response', approval_request_id: two.id, approve: true }]))

const events = await all(create('piece by piece', { stream: true, background: true }))
const id = events[0].response.id
found.types = events.map(event => event.type)
found.numbers = events.map(event => event.sequence_number)
found.text = text(events)
found.rest = []
for (const seen of events) {
  const rest = await all(client.responses.retrieve(id, { stream: true, starting_after: seen.sequence_number }))
  const before = events.slice(0, events.indexOf(seen) + 1)
  found.rest.push(text(before) + text(rest))
}

const background = await create('slow', { background: true })
found.background = background.status
found.cancelled = shown(await client.responses.cancel(background.id)).status
found.unknownAgent = await failure(() => client.responses.create({ model: 'nobody', input: 'hello' }))
found.unknownResponse = await failure(() => client.responses.retrieve('resp_none'))
found.tools = await failure(() => create('hello', { tools: [{ type: 'function', name: 'f' }] }))

// a gateway dies in the middle of a stream; another one tells the rest
const other = new OpenAI({ baseURL: crashing, apiKey: 'none', maxRetries: 0 })
const seen = []
try {
  for await (const event of await other.responses.create(
    { model: 'careful', input: 'piece by piece', stream: true, background: true })) {
    seen.push(event)
    if (text(seen) === 'One ') {
      console.error('KILL')
    }
  }
  found.died = false
} catch (e) {
  found.died = true
}
const last = seen.at(-1).sequence_number
const rest = await all(client.responses.retrieve(seen[0].response.id, { stream: true, starting_after: last }))
found.survived = text(seen) + text(rest)
found.end = rest.at(-1).type
console.log(JSON.stringify(found))

import { HttpAgent } from '@ag-ui/client'
import { ClientFactory } from '@a2a-js/sdk/client'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

const [base] = process.argv.slice(2)
const found = {}

// begun over A2A
const a2a = await new ClientFactory().createFromUrl(`${base}/a2a/careful/`)
const begun = await a2a.sendMessage({ message: {
  messageId: crypto.randomUUID(), contextId: '', taskId: '', role: 1, extensions: [], referenceTaskIds: [],
  parts: [{ content: { $case: 'text', value: 'paint it' }, filename: '', mediaType: '' }]
} })
const task = found.task = begun.id
found.begun = [begun.status.state, begun.status.message.parts[0].content.value]

// watched over AG-UI, from its answer to the next question
const agui = new HttpAgent({ url: `${base}/v1/agui/careful`, threadId: begun.contextId })
const events = []
await agui.runAgent({ resume: [{ interruptId: `question/${task}`, status: 'resolved', payload: 'blue' }] },
  { onEvent: ({ event }) => { events.push(event) } })
const { outcome } = events.at(-1)
found.watched = [events[0].metadata.taskId, outcome.type, outcome.interrupts[0].message]

// asked over MCP
const mcp = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'legacy' } })
await mcp.connect(new StreamableHTTPClientTransport(new URL(base + '/mcp')))
const asked = await mcp.callTool({ name: 'careful', arguments: { text: 'large', taskId: task } })
found.asked = [asked.content[0].text.split('\n')[0], asked._meta['millrace/taskId']]

// and gone on with by HTTP, as curl does it
const resumed = await fetch(`${base}/v1/tasks/${task}/resume?wait=20s`, {
  method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ newInput: 'matt' })
})
found.answer = (await resumed.json()).response
const ended = await a2a.getTask({ id: task })
found.ended = [ended.status.state, ended.artifacts[0].parts[0].content.value]
console.log(JSON.stringify(found))
process.exit(0)

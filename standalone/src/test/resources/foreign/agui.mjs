import { HttpAgent } from '@ag-ui/client'

// beside the promise that runAgent returns, the client rejects one that nobody can hold when a connection breaks
process.on('unhandledRejection', reason => console.error(String(reason)))

const [base, crashing] = process.argv.slice(2)
const found = {}
const own = crypto.randomUUID()
const thread = (id, url = base, agent = 'careful') =>
  new HttpAgent({ url: `${url}/v1/agui/${agent}`, threadId: `${id}-${own}` })
const run = async (agent, text, parameters = {}) => {
  const events = []
  if (text) agent.addMessage({ id: crypto.randomUUID(), role: 'user', content: text })
  try {
    await agent.runAgent(parameters, { onEvent: ({ event }) => { events.push(event) } })
  } catch (e) {
    if (events.at(-1)?.type !== 'RUN_ERROR') throw e
  }
  return events
}
const text = events => events.filter(event => event.type === 'TEXT_MESSAGE_CONTENT').map(event => event.delta).join('')

const first = thread('agui-1')
const tool = await run(first, 'use a tool')
found.types = tool.map(event => event.type)
found.text = text(tool)
found.pieces = (await run(first, 'piece by piece')).filter(event => event.type === 'TEXT_MESSAGE_CONTENT')
  .map(event => event.delta)
found.roles = first.messages.map(message => message.role)

const second = thread('agui-2')
found.question = (await run(second, 'ask me')).at(-1).outcome
found.answered = text(await run(second, null,
  { resume: [{ interruptId: second.pendingInterrupts[0].id, status: 'resolved', payload: 'blue' }] }))

const third = thread('agui-3')
found.approvals = (await run(third, 'write twice')).at(-1).outcome
found.decided = text(await run(third, null, {
  resume: third.pendingInterrupts.map((one, index) =>
    ({ interruptId: one.id, status: 'resolved', payload: { approved: index === 0 } }))
}))
found.failed = (await run(thread('agui-4'), 'break')).at(-1)

// a gateway dies in the middle of a run; the same run is told again by another one
const broken = thread('agui-5', crashing)
const seen = []
broken.addMessage({ id: 'm1', role: 'user', content: 'piece by piece' })
found.died = await broken.runAgent({ runId: `run-${own}` }, { onEvent: ({ event }) => {
  seen.push(event)
  if (text(seen) === 'One ') console.error('KILL')
} }).then(() => false, () => true)
const again = thread('agui-5')
again.addMessage({ id: 'm1', role: 'user', content: 'piece by piece' })
const events = await run(again, null, { runId: `run-${own}` })
found.survived = text(events)
found.sameTask = events[0].metadata.taskId === seen[0].metadata.taskId
console.log(JSON.stringify(found))
process.exit(0)

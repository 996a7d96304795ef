// what a new user does with the client, against a gateway that runs; prints a line for each thing that holds
import assert from 'node:assert/strict'
import { Millrace, RequestRefusedError, TaskCancelledError, TaskFailedError, TaskNotDoneError } from '@millrace/client'

// a browser has them in its address
const where = globalThis.process ? { baseUrl: process.env.MILLRACE_URL } : Object.fromEntries(new URLSearchParams(location.search))
const millrace = new Millrace(where)

// idempotent start, live text, cursor
const task = await millrace.start('stream me', { id: 'ts-1' })
assert.equal((await millrace.start('stream me', { id: 'ts-1' })).id, task.id)
let said = ''
let cursor
for await (const event of task.events({ text: true })) {
  if (event.type === 'text') said += event.delta
  if (event.type === 'restart') said = ''
  cursor ??= event.type === 'other' ? event.cursor : undefined
}
assert.equal(said, (await task.result()).text)
const rest = []
for await (const event of millrace.task('ts-1').events({ after: cursor })) rest.push(event.type)
assert.equal(rest.at(-1), 'completed')
console.log('streamed')

// approvals and questions
const careful = await millrace.agent('careful').start('write it')
for await (const event of careful.events()) {
  if (event.type === 'approval') await event.approve({ by: 'ada', params: { ...event.params, content: 'changed' } })
}
assert.match((await careful.result()).text, /written/)
const asked = await millrace.start('ask me')
for await (const event of asked.events()) {
  if (event.type === 'question') await event.answer('blue')
}
assert.equal((await asked.result()).text, 'You like blue')
console.log('decided')

// steering from elsewhere
const slow = await millrace.start('slow')
await assert.rejects(slow.result({ timeout: 200 }), TaskNotDoneError)
await millrace.task(slow.id).cancel('enough')
await assert.rejects(slow.result({ timeout: '20s' }), TaskCancelledError)
await assert.rejects(millrace.task('no-such-task').get(), failure =>
  failure instanceof RequestRefusedError && failure.status === 404 && failure.code === 'unknown_task')
await assert.rejects(millrace.start('', {}), failure => failure instanceof RequestRefusedError && failure.status === 400)
const broken = await millrace.start('break')
await assert.rejects(broken.result({ timeout: '20s' }), failure => failure instanceof TaskFailedError && failure.code !== '')
console.log('steered')

// run
const types = []
const tokens = []
const heard = []
const all = new Millrace({ ...where, callbacks: {
  onEvent: event => void heard.push(event), onContentStream: event => void tokens.push(event.payload.token) } })
const run = await all.run('stream me', event => void types.push(event.type), { stream: true })
assert.equal(run.status, 'queued')
const outcome = await run.done
assert.equal(outcome.status, 'completed')
assert.equal(tokens.join(''), outcome.text)
const iterated = []
for await (const event of run.events) iterated.push(event.type)
assert.deepEqual(iterated, types)
assert.deepEqual(heard.map(event => event.type), types)
assert.ok(heard.every(event => event.threadId === run.threadId))
const told = heard.filter(event => event.type === 'TOKEN').map(event => event.payload)
assert.ok(told.every(token => token.threadId === run.threadId && token.agentName === 'general'))
assert.deepEqual(told.map(token => token.isComplete).filter(Boolean), [true])
assert.ok(types.includes('NEW_MESSAGE') && types.includes('TOKEN'))
// what is not begun in time is not worked on; another tenant's run is its own
const busy = await all.run('slow')
const late = await all.run({ content: 'stream me', threadId: busy.threadId }, undefined, { ttl: 1 })
assert.deepEqual(await late.done.then(({ status, code }) => [status, code]), ['failed', 'expired'])
await busy.cancel()
const elsewhere = await all.run('stream me', undefined, { namespace: 'ts-acme' })
assert.equal((await elsewhere.done).status, 'completed')
assert.equal((await all.inNamespace('ts-acme').task(elsewhere.queueId).get()).namespace, 'ts-acme')
await assert.rejects(all.task(elsewhere.queueId).get(), failure => failure.code === 'unknown_task')
const abort = new AbortController()
const aborted = await all.run('slow', undefined, { signal: abort.signal })
abort.abort()
assert.equal((await aborted.done).status, 'cancelled')
await assert.rejects(all.run('x', undefined, { agents: 'a' }), TypeError)
await assert.rejects(all.run('x', undefined, { ackMode: 'never' }), TypeError)
console.log('run')

// all else that there is
const document = await millrace.memory.create('facts/a b.md', '# A\n', { by: 'ada' })
const found = await millrace.memory.find('facts/a b.md')
assert.equal(found.text, '# A\n')
await assert.rejects(millrace.memory.create('facts/a b.md', 'x'), failure => failure.status === 412)
await millrace.memory.replace('facts/a b.md', '# B\n', found.etag)
assert.equal(await millrace.memory.read('facts/a b.md', document.version), '# A\n')
assert.equal(await millrace.memory.find('facts/none.md'), undefined)
await millrace.schedules.put('nightly', { cron: '0 3 * * *', text: 'tidy up' })
assert.deepEqual((await millrace.schedules.all()).map(one => one.name), ['nightly'])
await millrace.schedules.delete('nightly')
const [eventId] = await millrace.events.publish({ type: 'MESSAGE_RECEIVED', source: 'https://x.example', id: 'ts-e', data: { text: 'stream me' } })
assert.equal(eventId, 'ts-e')
await millrace.task('ts-e').result({ timeout: '20s' })
const session = await millrace.newSession('talk')
await session.prompt('stream me')
for await (const one of millrace.tasks({ sessionId: session.id })) await millrace.task(one.taskId).result()
assert.equal((await session.get()).title, 'talk')
assert.ok((await millrace.agents()).some(agent => agent.name === 'careful'))
// the queue: an event put in, seen through its end, what has failed tried again with another payload
const put = await millrace.queue.put('queue-ts', { type: 'MESSAGE_RECEIVED', id: 'ts-q', priority: 850, ttl: '5m', payload: { text: 'break' } })
assert.deepEqual([put.id, put.threadId, put.status], ['ts-q', 'queue-ts', 'pending'])
await assert.rejects(millrace.task('ts-q').result({ timeout: '20s' }), TaskFailedError)
const failed = await millrace.queue.get('ts-q')
assert.deepEqual([failed.status, failed.priority, failed.ttl], ['failed', 850, 300_000])
const again = await millrace.queue.retry('ts-q', { text: 'stream me' })
assert.equal(again.retryOf, 'ts-q')
await millrace.task(again.id).result({ timeout: '20s' })
const items = []
for await (const item of millrace.queue.all({ sessionId: 'queue-ts' })) items.push(item.id)
assert.deepEqual(items, [again.id, 'ts-q'])
for await (const item of millrace.queue.waiting('queue-ts')) assert.fail(item.id)
await assert.rejects(millrace.queue.get('nobody'), failure => failure.code === 'unknown_event')
await assert.rejects(millrace.queue.retry(again.id), failure => failure.code === 'not_failed')
for await (const letter of millrace.deadLetters.all()) assert.ok(letter.cursor)
console.log('all')

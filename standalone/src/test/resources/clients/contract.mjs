// calls every method of every part of the client once, with everything that it takes; whoever answers looks at the requests
import { AgentHandle, Approvals, DeadLetters, Events, Memory, Millrace, Queue, Rules, Schedules, SessionHandle, TaskHandle } from '@millrace/client'

const millrace = new Millrace({ baseUrl: process.env.MILLRACE_URL, patience: 1, timeout: '5s' })
const watch = { after: '1:1', text: true, types: ['TASK_COMPLETED'], follow: true }
const by = { by: 'ada' }
const EVERYTHING = [
  [millrace, Millrace, {
    start: ['x', { id: 'i', agent: 'a', session: 's', metadata: { k: 'v' }, priority: 200, model: 'm', callbackUrl: 'https://x.example', ttl: '1m' }],
    run: ['x', undefined, { ackMode: 'onComplete' }],
    tasks: [{ state: 's', sessionId: 's', agent: 'a', waitingFor: 'answer', text: 't' }],
    bulk: [{ action: 'cancel', ids: ['t'], reason: 'r', dryRun: true }],
    feed: ['/v1/notifications'], inNamespace: ['n'] }],
  [millrace.task('t'), TaskHandle, { events: [watch] }],
  [millrace.agent('a'), AgentHandle, {}],
  [millrace.session('s'), SessionHandle, { messages: [{ limit: 3 }], events: [watch] }],
  [millrace.approvals, Approvals, {
    open: [{ taskId: 't', sessionId: 's', toolName: 't' }], approve: ['c', { by: 'a', params: { x: 1 } }], reject: ['c', { by: 'a', reason: 'r' }] }],
  [millrace.memory, Memory, {
    read: ['a/b.md', 1], create: ['a.md', 'x', by], replace: ['a.md', 'x', '"1"', by], delete: ['a.md', '"1"', by], restore: ['a.md', 1, '"1"', by] }],
  [millrace.rules, Rules, { put: ['r', { on: 'x.y', log: true }] }],
  [millrace.schedules, Schedules, {
    put: ['s', { cron: '@daily', at: 'x', zone: 'UTC', missed: 'one', missedLimit: 1, overlap: 'skip', sessionId: 's', priority: 100, ttl: 1000,
      text: 't', template: 't', body: {}, taskType: 'a', metadata: {}, callbackUrl: 'u', paused: true }] }],
  [millrace.deadLetters, DeadLetters, { all: [{ reason: 'r', taskId: 't' }] }],
  [millrace.queue, Queue, {
    all: [{ status: 'failed', sessionId: 's' }],
    put: ['s', { type: 'MESSAGE_RECEIVED', payload: { text: 'x' }, id: 'i', priority: 900, ttl: '1m', parentEventId: 'p' }],
    retry: ['e', { text: 'x' }] }],
  [millrace.events, Events, { publish: [{ type: 't', source: 's' }], all: [watch] }]
]
let count = 0
for (const [part, type, args] of EVERYTHING) {
  for (const name of Object.getOwnPropertyNames(type.prototype).filter(name => name !== 'constructor')) {
    count++
    try {
      const answer = part[name](...(args[name] ?? ['x', 'x', 'x', 'x']))
      if (answer?.[Symbol.asyncIterator]) {
        for await (const unused of answer) break
      } else {
        await answer
      }
    } catch {
      // what is answered is nonsense; what counts is what was asked
    }
  }
}
console.log(`called ${count}`)

import { MillraceError, RequestRefusedError } from './errors.js'
import { uuid } from './http.js'

const DEFAULT_AGENT = 'general'

/**
 * Says something and listens to what becomes of it: each event goes to `onEvent`, to the global callbacks, and to whoever
 * iterates over `events`.
 */
export async function run(millrace, message, onEvent, options = {}) {
  const { stream = false, ackMode = 'immediate', signal, ttl, agents = [] } = options
  if (ackMode !== 'immediate' && ackMode !== 'onComplete') {
    throw new TypeError(`ackMode: expected 'immediate' or 'onComplete', found ${JSON.stringify(ackMode)}`)
  }
  if (!Array.isArray(agents)) {
    throw new TypeError('agents: expected a list of names')
  }
  if (options.tools !== undefined) {
    throw new TypeError('tools: what an agent may use stands in its definition; found a list for one run')
  }
  const { content, threadId, metadata, sender } = typeof message === 'string' ? { content: message } : message
  const scope = options.namespace === undefined ? millrace : millrace.inNamespace(options.namespace)
  const session = threadId === undefined ? await scope.newSession() : scope.session(threadId)
  const several = agents.length > 1
    || metadata?.skipRouting === true
    || (threadId !== undefined && await hasParticipants(session))
  const told = new Told()
  const listening = new AbortController()
  const saying = {
    agent: agents.length === 1 ? agents[0] : undefined,
    participants: agents.length > 1 ? ['user', ...agents.filter(name => name !== 'user')] : undefined,
    sender: sender?.name, ttl, metadata, signal
  }
  let followed
  try {
    followed = several
      ? await followThread(session, content, saying, { stream, signal: listening.signal })
      : await followTask(session, content, saying, { stream, signal: listening.signal, user: sender?.name })
  } catch (failure) {
    listening.abort() // nobody listens to what may be open already
    throw failure
  }
  const { task } = followed

  async function listen() {
    let last
    try {
      for await (const one of followed.events) {
        last = one.type === 'TASK_COMPLETED' || one.type === 'TASK_FAILED' || one.type === 'TASK_CANCELLED' ? one : last
        told.add(one)
        await onEvent?.(one)
        await millrace.callbacks.onEvent?.(one)
        if (one.type === 'TOKEN') {
          await millrace.callbacks.onContentStream?.(one)
        }
      }
      told.end()
      return followed.isHeardByNobody() ? { status: 'completed', text: '' } : outcome(last, task.id)
    } catch (failure) {
      told.end(failure)
      throw failure
    } finally {
      signal?.removeEventListener('abort', abort)
      listening.abort()
    }
  }

  const cancel = async reason => {
    await Promise.all(followed.atWork().map(one => scope.task(one).cancel(reason)))
  }
  const abort = () => {
    cancel('aborted').catch(failure => {
      listening.abort()
      told.end(failure)
    })
  }
  signal?.addEventListener('abort', abort)
  if (signal?.aborted) {
    abort()
  }
  const done = listen()
  // whoever waits for it hears of a failure; nobody else is ended by it
  done.catch(() => {})
  const handle = { queueId: task.id, threadId: session.id, status: 'queued', events: told, done, cancel }
  if (ackMode === 'onComplete') {
    await done
  }
  return handle
}

async function hasParticipants(session) {
  try {
    return (await session.get()).participants?.length > 0
  } catch (failure) {
    if (failure instanceof RequestRefusedError && failure.status === 404) {
      return false
    }
    throw failure
  }
}

/** One agent: the events of its task. */
async function followTask(session, content, saying, { stream, signal, user = 'user' }) {
  const task = await session.start(content, saying)
  const names = { agent: saying.agent ?? DEFAULT_AGENT, user }
  async function* events() {
    for await (const event of task.events({ text: stream, signal })) {
      yield* flat(event, names, session.id)
    }
  }
  return { task, events: events(), atWork: () => [task.id], isHeardByNobody: () => false }
}

/**
 * Several participants: the events of all tasks that a message leads to, until nobody has the word any more. Who is given it
 * next is told by `session.turn`, for the message and for each task that has ended.
 */
async function followThread(session, content, saying, { stream, signal }) {
  const id = uuid()
  const agents = new Map([[id, saying.agent ?? DEFAULT_AGENT]])
  const atWork = new Set([id])
  let opened
  const open = new Promise(resolve => (opened = resolve))
  const all = session.events({ text: stream, signal, opened })
  const first = all.next()
  first.catch(() => {})
  await Promise.race([open, first])
  const task = await session.start(content, { ...saying, id })
  let heard = false

  const turn = ({ parentEventId, payload }) => {
    const speaks = payload.taskId ?? id
    if (payload.taskId === undefined ? parentEventId !== id : !atWork.has(payload.taskId)) {
      return false
    }
    atWork.delete(speaks)
    for (const next of payload.next ?? []) {
      agents.set(next.taskId, next.agent)
      atWork.add(next.taskId)
    }
    return true
  }

  async function* events() {
    try {
      for (let { done, value: event } = await first; !done; { done, value: event } = await all.next()) {
        const payload = event.json.payload ?? {}
        if (event.wireType === 'session.turn') {
          if (turn(event.json)) {
            yield* flat(event, { agent: payload.speaker }, session.id)
          }
        } else if (event.wireType === 'MESSAGE_RECEIVED' && event.json.id === id) {
          yield* flat(event, { user: payload.sender?.name ?? 'user' }, session.id)
          if (payload.metadata?.skipRouting === true) {
            atWork.clear()
          } else if (event.taskId !== '' && event.taskId !== id) {
            // the answer to a question of another task, which goes on
            atWork.delete(id)
            atWork.add(event.taskId)
            agents.set(event.taskId, agents.get(event.taskId) ?? DEFAULT_AGENT)
          }
        } else if (agents.has(event.taskId) && !payload.thread?.spokenIn) {
          heard = true
          yield* flat(event, { agent: agents.get(event.taskId), user: payload.sender?.name ?? 'user' }, session.id)
        }
        if (atWork.size === 0) {
          return
        }
      }
    } finally {
      all.return?.().catch?.(() => {})
    }
  }
  return { task, events: events(), atWork: () => [...atWork], isHeardByNobody: () => !heard && atWork.size === 0 }
}

function outcome(last, taskId) {
  switch (last?.type) {
    case 'TASK_COMPLETED':
      return { status: 'completed', text: last.payload.result?.response ?? '' }
    case 'TASK_FAILED':
      return { status: 'failed', code: last.payload.code, error: last.payload.error }
    case 'TASK_CANCELLED':
      return { status: 'cancelled', reason: last.payload.reason }
    default:
      throw new MillraceError(`Task ${taskId} is no longer listened to, and has not ended.`)
  }
}

/** An event as listeners know it: what was said is a NEW_MESSAGE or a TOKEN, a call a TOOL_CALL; all else is as it is. */
function flat(event, names, threadId) {
  const payload = event.json.payload ?? {}
  const one = (type, more) => {
    const { approve, reject, answer } = event
    return { type, taskId: event.taskId, threadId, cursor: event.cursor, payload: more, approve, reject, answer }
  }
  const message = (content, name, type) => one('NEW_MESSAGE', { content, sender: { name, type } })
  switch (event.wireType) {
    case 'stream.text':
      return [one('TOKEN', {
        token: event.delta, isComplete: false, threadId, agentName: names.agent, callId: event.callId, attempt: event.attempt })]
    case 'stream.completed':
      return [one('TOKEN', {
        token: '', isComplete: true, threadId, agentName: names.agent, callId: event.json.callId, attempt: event.json.attempt })]
    case 'stream.restart':
      return [one('TOKENS_VOID', { callId: event.callId, attempt: event.attempt })]
    case 'MESSAGE_RECEIVED':
      return [message(payload.text ?? '', names.user, 'user')]
    case 'TOOL_CALL_REQUESTED':
      return [one('TOOL_CALL', { callId: event.callId, toolName: event.toolName, params: event.params })]
    case 'REASON_DONE':
      return payload.response
        ? [one('REASON_DONE', payload), message(payload.response, names.agent, 'agent')]
        : [one('REASON_DONE', payload)]
    default:
      return event.wireType.startsWith('stream.') ? [] : [one(event.wireType, payload)]
  }
}

/** What was told so far and will be: each iteration has all of it, from the first event on. */
class Told {
  #events = []
  #waiting = new Set()
  #over = false
  #failure

  add(event) {
    this.#events.push(event)
    this.#wake()
  }

  end(failure) {
    this.#over = true
    this.#failure ??= failure
    this.#wake()
  }

  async *[Symbol.asyncIterator]() {
    for (let next = 0; ; ) {
      if (next < this.#events.length) {
        yield this.#events[next++]
      } else if (this.#failure !== undefined) {
        throw this.#failure
      } else if (this.#over) {
        return
      } else {
        await new Promise(resolve => this.#waiting.add(resolve))
      }
    }
  }

  #wake() {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    waiting.forEach(resolve => resolve())
  }
}

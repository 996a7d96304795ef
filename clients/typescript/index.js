import {
  MillraceError, RequestRefusedError, TaskCancelledError, TaskFailedError, TaskNotDoneError, UnreachableError
} from './errors.js'
import { feed } from './feed.js'
import { GatewayHttp, milliseconds, path, query, uuid } from './http.js'
import { run } from './run.js'

export {
  GatewayHttp, MillraceError, RequestRefusedError, TaskCancelledError, TaskFailedError, TaskNotDoneError, UnreachableError
}

const ENDS = ['TASK_COMPLETED', 'TASK_FAILED', 'TASK_CANCELLED']

/** A Millrace that runs somewhere. Holds no state: what it started goes on without it. */
export class Millrace {
  #options

  constructor(options) {
    this.#options = options
    this.namespace = options.namespace ?? 'default'
    this.callbacks = options.callbacks ?? {}
    this.http = new GatewayHttp(options)
    this.approvals = new Approvals(this, this.namespace)
    this.memory = new Memory(this)
    this.rules = new Rules(this.http)
    this.schedules = new Schedules(this)
    this.deadLetters = new DeadLetters(this.http)
    this.queue = new Queue(this)
    this.events = new Events(this)
  }

  async start(text, {
    id = uuid(), agent, session, metadata, priority, model, callbackUrl, ttl, participants, sender, signal
  } = {}) {
    signal?.throwIfAborted()
    const accepted = await this.http.post('/v1/tasks', {
      text, agent, sessionId: session, namespace: this.namespace, metadata, priority, model, callbackUrl,
      ttl: ttl === undefined ? undefined : milliseconds(ttl, 'ttl'),
      id, participants, sender
    })
    const task = new TaskHandle(this, this.namespace, accepted.taskId)
    if (signal?.aborted) {
      await task.cancel('aborted')
      signal.throwIfAborted()
    }
    return task
  }

  inNamespace(namespace) {
    return new Millrace({ ...this.#options, namespace })
  }

  run(message, onEvent, options) {
    return run(this, message, onEvent, options)
  }

  task(id) {
    return new TaskHandle(this, this.namespace, id)
  }

  tasks(search = {}) {
    const { state, sessionId, agent, waitingFor, text } = search
    return this.http.items(
      '/v1/tasks', { namespace: this.namespace, state, sessionId, agent, waitingFor, text }, 'cursor', 'tasks')
  }

  bulk(request) {
    return this.http.post(`/v1/tasks/bulk?namespace=${encodeURIComponent(this.namespace)}`, request)
  }

  agent(name) {
    return new AgentHandle(this, name)
  }

  async agents() {
    return (await this.http.get('/v1/agents')).agents
  }

  async tools() {
    return (await this.http.get('/v1/tools')).tools
  }

  session(id) {
    return new SessionHandle(this, id)
  }

  async newSession(title, { participants } = {}) {
    const made = await this.http.post('/v1/sessions', { title, participants, namespace: this.namespace })
    return new SessionHandle(this, made.sessionId)
  }

  sessions() {
    return this.http.items('/v1/sessions', { namespace: this.namespace }, 'cursor', 'sessions')
  }

  async usage() {
    return (await this.http.get(query('/v1/usage', { namespace: this.namespace }))).total
  }

  system() {
    return this.http.get('/v1/system')
  }

  feed(route, options) {
    return told(this, route, options)
  }
}

/** A task by its id. */
export class TaskHandle {
  #millrace
  #namespace

  constructor(millrace, namespace, id) {
    this.#millrace = millrace
    this.#namespace = namespace
    this.id = id
  }

  get() {
    return this.#millrace.http.get(this.#route())
  }

  events({ after, text, types, follow, signal } = {}) {
    const route = query(`${path('v1', 'tasks', this.id)}/stream`, {
      namespace: this.#namespace,
      tokens: text ? 'stream' : undefined,
      types: types?.join(','),
      follow: follow ? 'true' : undefined
    })
    return told(this.#millrace, route, { after, signal })
  }

  log() {
    return this.#millrace.http.items(
      `${path('v1', 'tasks', this.id)}/events`, { namespace: this.#namespace }, 'after', 'events')
  }

  history() {
    return this.#millrace.http.items(
      `${path('v1', 'tasks', this.id)}/history`, { namespace: this.#namespace }, 'after', 'history')
  }

  async result({ timeout = '10m', signal } = {}) {
    const limit = milliseconds(timeout, 'timeout')
    const abort = new AbortController()
    const stop = () => abort.abort()
    const timer = setTimeout(stop, limit)
    signal?.addEventListener('abort', stop)
    let last
    try {
      // a completed task may have been resumed: what counts is how it stands at the end of its stream
      for await (const event of this.events({ types: ENDS, signal: abort.signal })) {
        last = event
      }
      signal?.throwIfAborted()
      if (abort.signal.aborted) {
        throw new TaskNotDoneError(this.id, limit)
      }
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
    }
    switch (last?.type) {
      case 'completed':
        return { taskId: this.id, text: last.text ?? '', usage: last.json.payload.usage }
      case 'failed':
        throw new TaskFailedError(this.id, last.code, last.error)
      case 'cancelled':
        throw new TaskCancelledError(this.id, last.reason)
      default:
        throw new MillraceError(`The stream of task ${this.id} is over and told no end of it.`)
    }
  }

  answer(text) {
    return this.resume(text)
  }

  resume(newInput) {
    return this.#millrace.http.post(this.#route('resume'), { newInput })
  }

  suspend(reason) {
    return this.#millrace.http.post(this.#route('suspend'), { reason })
  }

  cancel(reason) {
    return this.#millrace.http.post(this.#route('cancel'), { reason })
  }

  #route(...rest) {
    return query(path('v1', 'tasks', this.id, ...rest), { namespace: this.#namespace })
  }
}

/** An agent by its name. */
export class AgentHandle {
  #millrace

  constructor(millrace, name) {
    this.#millrace = millrace
    this.name = name
  }

  get() {
    return this.#millrace.http.get(path('v1', 'agents', this.name))
  }

  start(text, options) {
    return this.#millrace.start(text, { ...options, agent: this.name })
  }
}

/** A conversation by its id. */
export class SessionHandle {
  #millrace

  constructor(millrace, id) {
    this.#millrace = millrace
    this.id = id
  }

  get() {
    return this.#millrace.http.get(this.#route())
  }

  start(text, options) {
    return this.#millrace.start(text, { ...options, session: this.id })
  }

  prompt(content) {
    return this.#millrace.http.post(this.#route('prompt'), { content })
  }

  async messages({ limit = 100 } = {}) {
    const route = query(path('v1', 'sessions', this.id, 'messages'), { namespace: this.#millrace.namespace, limit })
    return (await this.#millrace.http.get(route)).messages
  }

  events({ after, text, types, signal, opened } = {}) {
    const route = query(path('v1', 'sessions', this.id, 'stream'), {
      namespace: this.#millrace.namespace,
      tokens: text ? 'stream' : undefined,
      types: types?.join(',')
    })
    return told(this.#millrace, route, { after, signal, opened })
  }

  interrupt() {
    return this.#millrace.http.post(this.#route('interrupt'))
  }

  delete() {
    return this.#millrace.http.delete(this.#route())
  }

  #route(...rest) {
    return query(path('v1', 'sessions', this.id, ...rest), { namespace: this.#millrace.namespace })
  }
}

/** Tool calls that wait for a person. */
export class Approvals {
  #http
  #namespace

  constructor(millrace, namespace) {
    this.#http = millrace.http
    this.#namespace = namespace
  }

  open({ taskId, sessionId, toolName } = {}) {
    return this.#http.items(
      '/v1/approvals', { namespace: this.#namespace, taskId, sessionId, toolName }, 'cursor', 'approvals')
  }

  get(callId) {
    return this.#http.get(this.#route(callId))
  }

  approve(callId, { by, params } = {}) {
    return this.#http.post(this.#route(callId), { decision: 'approve', params, decidedBy: by })
  }

  reject(callId, { by, reason } = {}) {
    return this.#http.post(this.#route(callId), { decision: 'reject', reason, decidedBy: by })
  }

  #route(callId) {
    return query(path('v1', 'approvals', callId), { namespace: this.#namespace })
  }
}

/** What the agents of a namespace remember. Whatever is changed is changed under the tag of what it replaces. */
export class Memory {
  #millrace

  constructor(millrace) {
    this.#millrace = millrace
  }

  documents() {
    return this.#millrace.http.items(this.#route(), {}, 'cursor', 'documents')
  }

  async find(name) {
    try {
      return await this.#millrace.http.text(this.#route(name))
    } catch (failure) {
      if (failure instanceof RequestRefusedError && failure.status === 404) {
        return undefined
      }
      throw failure
    }
  }

  async versions(name) {
    return (await this.#millrace.http.get(`${this.#route(name)}/versions`)).versions
  }

  async read(name, version) {
    return (await this.#millrace.http.text(`${this.#route(name)}/versions/${Number(version)}`)).text
  }

  async create(name, content, { by } = {}) {
    return judged(await this.#put(name, content, by, { 'if-none-match': '*' }))
  }

  async replace(name, content, etag, { by } = {}) {
    return judged(await this.#put(name, content, by, { 'if-match': etag }))
  }

  async delete(name, etag, { by } = {}) {
    judged(await this.#millrace.http.delete(query(this.#route(name), { by }), { 'if-match': etag }))
  }

  async restore(name, version, etag, { by } = {}) {
    const route = query(`${this.#route(name)}/versions/${Number(version)}/restore`, { by })
    return judged(await this.#millrace.http.post(route, undefined, { 'if-match': etag }))
  }

  #put(name, content, by, condition) {
    return this.#millrace.http.put(
      query(this.#route(name), { by }), content, { 'content-type': 'text/markdown; charset=utf-8', ...condition })
  }

  #route(name) {
    return path('v1', 'memory', this.#millrace.namespace, ...(name === undefined ? [] : name.split('/')))
  }
}

/** An edit may be stored and not judged in time; then nobody knows yet what became of it. */
function judged(answer) {
  if (answer?.status === 'accepted') {
    throw new MillraceError(answer.note ?? 'The edit is stored, and not judged yet.')
  }
  return answer
}

/** What follows from events of the outside world. */
export class Rules {
  #http

  constructor(http) {
    this.#http = http
  }

  async all() {
    return (await this.#http.get('/v1/rules')).rules
  }

  get(id) {
    return this.#http.get(path('v1', 'rules', id))
  }

  put(id, rule) {
    return this.#http.put(path('v1', 'rules', id), rule)
  }

  async delete(id) {
    await this.#http.delete(path('v1', 'rules', id))
  }
}

/** Tasks that are due by the clock. */
export class Schedules {
  #millrace

  constructor(millrace) {
    this.#millrace = millrace
  }

  async all() {
    return (await this.#millrace.http.get(query('/v1/schedules', this.#scope()))).schedules
  }

  get(name) {
    return this.#millrace.http.get(this.#route(name))
  }

  put(name, definition) {
    return this.#millrace.http.put(this.#route(name), definition)
  }

  async delete(name) {
    await this.#millrace.http.delete(this.#route(name))
  }

  async pause(name) {
    await this.#millrace.http.post(this.#route(name, 'pause'))
  }

  async resume(name) {
    await this.#millrace.http.post(this.#route(name, 'resume'))
  }

  async fire(name, { id = uuid() } = {}) {
    const accepted = await this.#millrace.http.post(this.#route(name, 'fire'), undefined, { 'idempotency-key': id })
    return new TaskHandle(this.#millrace, this.#millrace.namespace, accepted.taskId)
  }

  #scope() {
    return { namespace: this.#millrace.namespace }
  }

  #route(name, ...rest) {
    return query(path('v1', 'schedules', name, ...rest), this.#scope())
  }
}

/** Records that could not be read or were not taken. */
export class DeadLetters {
  #http

  constructor(http) {
    this.#http = http
  }

  all({ reason, taskId } = {}) {
    return this.#http.items('/v1/dead-letters', { reason, taskId }, 'cursor', 'deadLetters')
  }

  get(cursor) {
    return this.#http.get(path('v1', 'dead-letters', cursor))
  }

  redrive(cursor, payload) {
    return this.#http.post(path('v1', 'dead-letters', cursor, 'redrive'), payload === undefined ? undefined : { payload })
  }

  redriveAll(filter) {
    return this.#http.post('/v1/dead-letters/redrive', filter)
  }

  discard(cursor) {
    return this.#http.post(path('v1', 'dead-letters', cursor, 'discard'))
  }

  discardAll(filter) {
    return this.#http.post('/v1/dead-letters/discard', filter)
  }
}

/** What was accepted, as items of a queue, in which higher priorities go first. */
export class Queue {
  #millrace

  constructor(millrace) {
    this.#millrace = millrace
  }

  all({ status, sessionId } = {}) {
    return this.#items({ status, sessionId })
  }

  waiting(sessionId) {
    return this.#items({ sessionId, order: 'work' })
  }

  get(eventId) {
    return this.#millrace.http.get(this.#route(eventId))
  }

  put(sessionId, { type, payload, id, priority, ttl, parentEventId }) {
    return this.#millrace.http.post(path('v1', 'sessions', sessionId, 'queue'), {
      type,
      payload,
      id,
      priority,
      ttl: ttl === undefined ? undefined : milliseconds(ttl, 'ttl'),
      parentEventId,
      namespace: this.#millrace.namespace
    })
  }

  retry(eventId, payload) {
    return this.#millrace.http.post(this.#route(eventId, 'retry'), payload === undefined ? undefined : { payload })
  }

  #items(filter) {
    return this.#millrace.http.items('/v1/queue', { namespace: this.#millrace.namespace, ...filter }, 'cursor', 'items')
  }

  #route(eventId, ...rest) {
    return query(path('v1', 'queue', eventId, ...rest), { namespace: this.#millrace.namespace })
  }
}

/** Events: sent, and followed back to what caused them. */
export class Events {
  #millrace

  constructor(millrace) {
    this.#millrace = millrace
  }

  async publish(...events) {
    const all = events.map(({ id = uuid(), type, source, sessionId, data }) =>
      ({ specversion: '1.0', id, type, source, sessionid: sessionId, namespace: this.#millrace.namespace, data }))
    const answer = await this.#millrace.http.post(
      '/v1/events', JSON.stringify(all), { 'content-type': 'application/cloudevents-batch+json' })
    return answer.accepted
  }

  async chain(eventId) {
    const route = query(path('v1', 'events', eventId, 'chain'), { namespace: this.#millrace.namespace, limit: 500 })
    return (await this.#millrace.http.get(route)).chain
  }

  all({ after, text, types, signal } = {}) {
    const route = query('/v1/stream', {
      namespace: this.#millrace.namespace, tokens: text ? 'stream' : undefined, types: types?.join(',')
    })
    return told(this.#millrace, route, { after, signal })
  }
}

async function* told(millrace, route, options) {
  for await (const { cursor, json } of feed(millrace.http, route, options)) {
    yield read(millrace, cursor, json)
  }
}

/** What was told, with a short type; what has none of its own is `other`, since new types come. */
function read(millrace, cursor, json) {
  const payload = json.payload ?? {}
  const namespace = json.namespace ?? millrace.namespace
  const of = (type, more) => ({ type, wireType: json.type ?? '', cursor, taskId: json.taskId ?? '', json, ...more })
  switch (json.type) {
    case 'stream.text':
      return of('text', { callId: json.callId, attempt: json.attempt, delta: json.delta ?? '' })
    case 'stream.restart':
      return of('restart', { callId: json.callId, attempt: json.attempt })
    case 'TOOL_CALL_REQUESTED':
      return of('tool-call', { callId: payload.callId, toolName: payload.toolName, params: payload.params ?? {} })
    case 'TOOL_CALL_COMPLETED':
      return of('tool-result', { callId: payload.callId })
    case 'TOOL_CALL_FAILED':
      return of('tool-result', { callId: payload.callId, error: payload.error })
    case 'APPROVAL_REQUESTED': {
      const approvals = new Approvals(millrace, namespace)
      return of('approval', {
        callId: payload.callId,
        toolName: payload.toolName,
        params: payload.params ?? {},
        reason: payload.reason,
        expiresAt: payload.expiresAt,
        approve: decision => approvals.approve(payload.callId, decision),
        reject: decision => approvals.reject(payload.callId, decision)
      })
    }
    case 'TASK_SUSPENDED':
      return payload.question === undefined
        ? of('other')
        : of('question', {
          question: payload.question,
          answer: text => new TaskHandle(millrace, namespace, json.taskId).answer(text)
        })
    case 'TASK_COMPLETED':
      return of('completed', { text: payload.result?.response ?? undefined })
    case 'TASK_FAILED':
      return of('failed', { code: payload.code, error: payload.error })
    case 'TASK_CANCELLED':
      return of('cancelled', { reason: payload.reason })
    default:
      return of('other')
  }
}

// What the events of a task come to: turns of a conversation, spans of a timeline, a tree of causes, walked edges.
// Pure functions of events, so that a task that runs and one that ended a week ago are read in the same way.

const ENDS = { TASK_COMPLETED: 'completed', TASK_FAILED: 'failed', TASK_CANCELLED: 'cancelled' }
const REPLIES = new Set(['REASON_DONE', 'NEED_MORE_INFO', 'MODEL_CALL_FAILED', 'CONTEXT_COMPACTED', 'MODEL_CALL_ABANDONED'])

/** One task as a conversation sees it; events and pieces of live text are added as they come, each once. */
export class Turn {
  blocks = []
  state = 'idle'
  ended = null
  agent = ''
  error = null
  startedAt = null
  endedAt = null
  usage = { inputTokens: 0, outputTokens: 0, costMicros: 0, priced: true, calls: 0 }
  model = ''
  #wanted = []
  #seen = new Set()
  #calls = new Map()
  #tools = new Map()
  #approvals = new Map()

  constructor(taskId) {
    this.taskId = taskId
  }

  /** What waits for a person now. */
  get open() {
    return this.blocks.filter(block => (block.kind === 'approval' && !block.decision) || (block.kind === 'question' && !block.answered))
  }

  add(event) {
    if (this.#seen.has(event.id)) return false
    this.#seen.add(event.id)
    const said = event.payload ?? {}
    this.startedAt ??= event.timestamp
    switch (event.type) {
      case 'MESSAGE_RECEIVED':
      case 'WEBHOOK_TRIGGERED':
      case 'SCHEDULE_FIRED':
        this.#says(event, said.text ?? said.content ?? said.template ?? '')
        break
      case 'TASK_CREATED':
        this.agent = said.taskType
        if (!this.blocks.some(block => block.kind === 'person')) this.#says(event, said.inputText)
        break
      case 'TASK_RESUMED':
        if (said.newInput) this.#says(event, said.newInput)
        break
      case 'TASK_STATE_CHANGED':
        this.state = said.toState
        if (!ENDS['TASK_' + said.toState.toUpperCase()]) this.ended = null
        break
      case 'MODEL_CALL_REQUESTED':
        this.#call(said.callId).purpose = said.purpose ?? 'reply'
        this.#call(said.callId).startedAt = event.timestamp
        break
      case 'TOOL_CALL_REQUESTED':
        this.#tool(said, event).startedAt = event.timestamp
        break
      case 'TOOL_CALL_COMPLETED':
        Object.assign(this.#tool(said, event), { result: said.result, done: true, durationMs: said.durationMs, endedAt: event.timestamp })
        break
      case 'TOOL_CALL_FAILED':
        Object.assign(this.#tool(said, event), { error: said.error, code: said.code, done: true, durationMs: said.durationMs, endedAt: event.timestamp })
        break
      case 'APPROVAL_REQUESTED': {
        const block = { kind: 'approval', id: said.callId, ...said, at: event.timestamp, taskId: event.taskId, decision: null }
        this.#approvals.set(said.callId, block)
        this.blocks.push(block)
        break
      }
      case 'APPROVAL_DECIDED': {
        const block = this.#approvals.get(said.callId)
        if (block && !block.decision) Object.assign(block, { decision: said.decision, decidedBy: said.decidedBy, why: said.reason, edited: said.params, decidedAt: event.timestamp })
        break
      }
      case 'TASK_SUSPENDED':
        if (said.question) this.#asks(event, said.question)
        break
      case 'TASK_NOTIFY':
        this.blocks.push({ kind: 'note', id: event.id, text: said.message, at: event.timestamp })
        break
      case 'TASK_COMPLETED':
      case 'TASK_FAILED':
      case 'TASK_CANCELLED':
        this.#end(event, said)
        break
      default:
        if (!REPLIES.has(event.type)) break
        this.#reply(event, said)
    }
    return true
  }

  /** A piece of live text; what it says is void as soon as the journal has the reply. */
  hear(type, piece) {
    if (!piece.callId) return
    const call = this.#call(piece.callId)
    if (call.final || (piece.attempt ?? 0) < call.attempt) return
    if (type === 'stream.start' || type === 'stream.restart') {
      Object.assign(call, { attempt: piece.attempt, text: '', thinking: '', writing: '', model: piece.model ?? call.model, restarts: call.restarts + (type === 'stream.restart' ? 1 : 0) })
    } else if (piece.attempt > call.attempt) {
      Object.assign(call, { attempt: piece.attempt, text: '', thinking: '', writing: '' })
    }
    if (type === 'stream.text') call.text += piece.delta ?? ''
    if (type === 'stream.reasoning') call.thinking += piece.delta ?? ''
    if (type === 'stream.tool_call') call.writing = piece.toolName ?? (call.writing || 'a tool call')
  }

  #says(event, text) {
    const question = this.blocks.findLast(block => block.kind === 'question' && !block.answered)
    if (question) question.answered = true
    this.blocks.push({ kind: 'person', id: event.id, text, at: event.timestamp, source: event.source })
  }

  #asks(event, text) {
    if (!this.blocks.some(block => block.kind === 'question' && !block.answered && block.text === text)) {
      this.blocks.push({ kind: 'question', id: event.id, text, at: event.timestamp, answered: false, taskId: event.taskId })
    }
  }

  #call(id) {
    let call = this.#calls.get(id)
    if (!call) {
      call = { kind: 'call', id, text: '', thinking: '', writing: '', attempt: 0, restarts: 0, final: false, purpose: 'reply', model: '' }
      this.#calls.set(id, call)
      this.blocks.push(call)
    }
    return call
  }

  #tool(said, event) {
    let tool = this.#tools.get(said.callId)
    if (!tool) {
      tool = { kind: 'tool', id: said.callId, name: said.toolName, at: event.timestamp, eventId: event.id, done: false }
      this.#tools.set(said.callId, tool)
      this.blocks.push(tool)
    }
    if (said.params) tool.params = said.params
    else if (!tool.params) {
      // a call that goes to no worker, such as a sub-task's, is asked for by the model alone
      const wanted = this.#wanted.findIndex(call => call.toolName === said.toolName)
      if (wanted >= 0) tool.params = this.#wanted.splice(wanted, 1)[0].arguments
    }
    return tool
  }

  #reply(event, said) {
    const call = this.#call(said.callId)
    if (call.final) return
    Object.assign(call, { final: true, writing: '', endedAt: event.timestamp, usage: said.usage, eventId: event.id })
    if (said.model) call.model = this.model = said.model
    if (event.type === 'MODEL_CALL_FAILED') Object.assign(call, { error: said.error, code: said.code, text: '' })
    else if (event.type === 'MODEL_CALL_ABANDONED') call.text = ''
    else Object.assign(call, { text: said.response ?? said.summary ?? '', thinking: said.reasoning ?? call.thinking, fallback: said.fallback })
    this.usage.calls++
    this.#wanted = [...(said.toolCalls ?? [])]
    if (said.usage) {
      this.usage.inputTokens += said.usage.inputTokens ?? 0
      this.usage.outputTokens += said.usage.outputTokens ?? 0
      if (said.usage.costMicros == null) this.usage.priced = false
      else this.usage.costMicros += said.usage.costMicros
    }
    if (event.type === 'NEED_MORE_INFO') this.#asks(event, said.question)
  }

  #end(event, said) {
    this.ended = this.state = ENDS[event.type]
    this.endedAt = event.timestamp
    this.error = event.type === 'TASK_FAILED' ? { code: said.code, text: said.error } : null
    this.reason = event.type === 'TASK_CANCELLED' ? said.reason : null
    for (const block of this.blocks) {
      if (block.kind === 'approval' && !block.decision) block.decision = 'withdrawn'
      if (block.kind === 'question') block.answered = true
    }
  }
}

/**
 * The spans of a timeline: model calls, tool calls, approvals and waits, in the order of their begin. What has not ended
 * has no end yet.
 */
export function spans(events) {
  const all = []
  const open = new Map()
  let wait = null
  const begin = (key, span) => {
    all.push(span)
    open.set(key, span)
    return span
  }
  const end = (key, event, more) => {
    const span = open.get(key)
    if (!span) return null
    open.delete(key)
    return Object.assign(span, { end: event.timestamp, endEvent: event.id }, more)
  }
  for (const event of events) {
    const said = event.payload ?? {}
    switch (event.type) {
      case 'MODEL_CALL_REQUESTED':
        begin('m' + said.callId, { kind: 'model', name: said.purpose === 'summary' ? 'summary' : `model call ${said.iteration ?? ''}`.trim(), start: event.timestamp, event: event.id, model: said.model })
        break
      case 'TOOL_CALL_REQUESTED':
        begin('t' + said.callId, { kind: 'tool', name: said.toolName, start: event.timestamp, event: event.id, detail: said.params })
        break
      case 'TOOL_CALL_COMPLETED':
        if (!end('t' + said.callId, event, { ok: true, result: said.result })) {
          all.push({ kind: 'tool', name: said.toolName, start: event.timestamp, end: event.timestamp, event: event.id, endEvent: event.id, ok: true, result: said.result, workless: true })
        }
        break
      case 'TOOL_CALL_FAILED':
        if (!end('t' + said.callId, event, { ok: false, error: said.error, code: said.code })) {
          all.push({ kind: 'tool', name: said.toolName, start: event.timestamp, end: event.timestamp, event: event.id, endEvent: event.id, ok: false, error: said.error, code: said.code, workless: true })
        }
        break
      case 'APPROVAL_REQUESTED':
        begin('a' + said.callId, { kind: 'wait', name: `approval of ${said.toolName}`, start: event.timestamp, event: event.id, detail: said.params })
        break
      case 'APPROVAL_DECIDED':
        end('a' + said.callId, event, { ok: said.decision === 'approve', note: said.decision + (said.decidedBy ? ` by ${said.decidedBy}` : '') })
        break
      case 'TASK_STATE_CHANGED': {
        if (wait) {
          Object.assign(wait, { end: event.timestamp, endEvent: event.id, ok: true })
          wait = null
        }
        const kind = said.waitingFor?.kind
        const names = { answer: 'waits for an answer', resume: 'suspended', children: 'waits for sub-tasks', admission: 'waits for its turn' }
        if (names[kind]) {
          wait = { kind: 'wait', name: names[kind], start: event.timestamp, event: event.id }
          all.push(wait)
        }
        break
      }
      default:
        if (REPLIES.has(event.type)) {
          end('m' + said.callId, event, {
            ok: event.type !== 'MODEL_CALL_FAILED' && event.type !== 'MODEL_CALL_ABANDONED',
            usage: said.usage, model: said.model, error: said.error, code: said.code,
            attempts: said.usage?.attempts ?? 1, fallback: said.fallback, says: said.response ?? said.question ?? said.summary,
          })
        }
    }
  }
  const last = events.at(-1)
  if (last && ENDS[last.type]) {
    for (const span of open.values()) Object.assign(span, { end: last.timestamp, endEvent: last.id, ok: false, note: 'cut off' })
    if (wait) Object.assign(wait, { end: last.timestamp, endEvent: last.id })
  }
  return all
}

/** A sub-task that failed is told of to the task above it within so many milliseconds. */
const TOLD_WITHIN = 5000

/**
 * The same spans with a bar for each sub-task, from its begin to its end, whether anybody waits for it or not. The call
 * that started it went to no worker: what the journal of the task above tells of it is but a moment, and gives way to the bar.
 */
export function withSubTasks(list, children) {
  const byId = new Map(children.map(task => [task.taskId, task]))
  const told = new Map()
  const failed = children.filter(task => task.state === 'failed' || task.state === 'cancelled')
  const rest = list.filter(span => {
    if (!span.workless) return true
    const task = byId.get(span.result?.task_id) ?? (span.ok ? undefined
      : failed.find(one => !told.has(one.taskId) && Math.abs(span.end - one.updatedAt) < TOLD_WITHIN))
    if (!task) return true
    told.set(task.taskId, span)
    return false
  })
  const bars = children.map(task => {
    const ended = Object.values(ENDS).includes(task.state)
    const span = told.get(task.taskId)
    return {
      kind: 'task', name: task.inputText, taskId: task.taskId, start: task.createdAt, end: ended ? Math.max(task.createdAt, task.updatedAt) : undefined,
      event: span?.event ?? `task ${task.taskId}`, ok: ended ? task.state === 'completed' : undefined,
      code: task.errorCode ?? (task.state === 'cancelled' ? 'cancelled' : undefined), note: task.agent ?? task.taskType,
      usage: task.usage && { ...task.usage, costMicros: task.budget?.costMicros },
    }
  })
  return [...rest, ...bars].sort((a, b) => a.start - b.start)
}

/**
 * A time scale in which stretches where nothing but waiting happens are squeezed, so that a night's wait for an approval
 * does not hide the work around it. Answers { x(time) in 0..1, breaks: [[from, to], …] }.
 */
export function scale(list, now) {
  if (!list.length) return { x: () => 0, breaks: [], from: now, to: now }
  const from = Math.min(...list.map(span => span.start))
  const to = Math.max(from + 1, ...list.map(span => span.end ?? now))
  const marks = [...new Set(list.flatMap(span => [span.start, span.end ?? now]))].sort((a, b) => a - b)
  const busy = list.filter(span => span.kind !== 'wait')
  const pieces = []
  const starts = busy.map(span => span.start).sort((a, b) => a - b)
  const ends = busy.map(span => span.end ?? now).sort((a, b) => a - b)
  let working = 0
  let s = 0
  let e = 0
  let busyTime = 0
  for (let i = 0; i + 1 < marks.length; i++) {
    while (s < starts.length && starts[s] <= marks[i]) { s++; working++ }
    while (e < ends.length && ends[e] <= marks[i]) { e++; working-- }
    const length = marks[i + 1] - marks[i]
    pieces.push({ from: marks[i], to: marks[i + 1], length, busy: working > 0 })
    if (working > 0) busyTime += length
  }
  const most = Math.max(300, busyTime * 0.15)
  const breaks = []
  let at = 0
  for (const piece of pieces) {
    piece.at = at
    piece.width = piece.busy ? piece.length : Math.min(piece.length, most)
    if (piece.width < piece.length / 2) breaks.push([piece.from, piece.to])
    at += piece.width
  }
  const whole = at || 1
  const x = time => {
    if (time <= from) return 0
    let low = 0
    let high = pieces.length - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if (pieces[middle].to < time) low = middle + 1
      else high = middle
    }
    const piece = pieces[low]
    if (!piece || time >= to) return 1
    return (piece.at + ((time - piece.from) / (piece.length || 1)) * piece.width) / whole
  }
  return { x, breaks, from, to }
}

/**
 * The events as rows of a tree of causes, each after its cause. A chain in which each event has one effect stays at its
 * depth: only where an event has several effects the tree branches.
 */
export function causes(events) {
  const ids = new Set(events.map(event => event.id))
  const children = new Map()
  const roots = []
  for (const event of events) {
    if (event.parentEventId && ids.has(event.parentEventId) && event.parentEventId !== event.id) {
      if (!children.has(event.parentEventId)) children.set(event.parentEventId, [])
      children.get(event.parentEventId).push(event)
    } else roots.push(event)
  }
  const rows = []
  const stack = roots.toReversed().map(event => ({ event, depth: 0 }))
  while (stack.length) {
    const row = stack.pop()
    const effects = children.get(row.event.id) ?? []
    rows.push({ ...row, effects: effects.length })
    const depth = effects.length > 1 ? row.depth + 1 : row.depth
    for (const effect of effects.toReversed()) stack.push({ event: effect, depth })
  }
  return rows
}

/** How often each edge of the machine was walked, by "from>to", and the state that the task is in. */
export function walked(events) {
  const edges = new Map()
  for (const event of events) {
    if (event.type !== 'TASK_STATE_CHANGED') continue
    const key = `${event.payload.fromState}>${event.payload.toState}`
    edges.set(key, (edges.get(key) ?? 0) + 1)
  }
  return edges
}

/** What an event says, in a line. */
export function gist(event) {
  const said = event.payload ?? {}
  switch (event.type) {
    case 'TASK_STATE_CHANGED':
      return `${said.fromState} → ${said.toState}`
    case 'TOOL_CALL_REQUESTED':
    case 'APPROVAL_REQUESTED':
      return `${said.toolName} ${JSON.stringify(said.params ?? {})}`
    case 'TOOL_CALL_COMPLETED':
      return `${said.toolName} → ${JSON.stringify(said.result ?? null)}`
    case 'TOOL_CALL_FAILED':
      return `${said.toolName}: ${said.error}`
    case 'APPROVAL_DECIDED':
      return said.decision + (said.decidedBy ? ` by ${said.decidedBy}` : '') + (said.reason ? `: ${said.reason}` : '')
    case 'MODEL_CALL_REQUESTED':
      return `call ${said.iteration}${said.model ? ` of ${said.model}` : ''}`
    default:
      return said.response ?? said.question ?? said.error ?? said.text ?? said.inputText ?? said.message ?? said.reason
        ?? said.newInput ?? said.result?.response ?? (said.toolCalls?.length ? said.toolCalls.map(call => call.toolName).join(', ') : '')
  }
}

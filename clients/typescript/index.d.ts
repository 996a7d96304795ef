/** Milliseconds, or a time such as `'30s'`, `'10m'`, `'24h'`. */
export type Time = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

export interface MillraceOptions {
  /** Such as `http://localhost:8080`. */
  baseUrl: string
  /** The tenant; at first `default`. */
  namespace?: string
  /** The API key or token that goes with every request; a function is asked before each. */
  token?: string | (() => string | Promise<string>)
  /** How long an answer may take; at first 30 s. */
  timeout?: Time
  /** How long a feed tries to come back to a gateway that is away; at first 20 s. */
  patience?: Time
  /** After how much silence a feed takes its connection for dead; at first 60 s, and more than the gateway's heartbeat. */
  silence?: Time
  /** Called for the events of every `run`. */
  callbacks?: RunCallbacks
  /** In place of the global one. */
  fetch?: typeof fetch
}

/** A Millrace that runs somewhere. Holds no state: what it started goes on without it. */
export class Millrace {
  constructor(options: MillraceOptions)
  readonly namespace: string
  readonly callbacks: RunCallbacks
  readonly http: GatewayHttp
  readonly approvals: Approvals
  readonly memory: Memory
  readonly rules: Rules
  readonly schedules: Schedules
  readonly deadLetters: DeadLetters
  readonly queue: Queue
  readonly events: Events
  /** The same for another tenant. */
  inNamespace(namespace: string): Millrace
  /** Gives a task to an agent, or to the default one. Starting with the same id again makes no second task. */
  start(text: string, options?: StartOptions): Promise<TaskHandle>
  /** Says something in a thread and listens to what becomes of it. */
  run(message: string | RunMessage, onEvent?: RunListener, options?: RunOptions): Promise<RunHandle>
  task(id: string): TaskHandle
  /** The newest first. */
  tasks(search?: TaskSearch): AsyncGenerator<Task>
  /** Does one thing with many, as far as one answer goes; `next` is the `cursor` of the next request. */
  bulk(request: TaskBulkRequest): Promise<TaskBulkOutcome>
  agent(name: string): AgentHandle
  agents(): Promise<Agent[]>
  tools(): Promise<Tool[]>
  session(id: string): SessionHandle
  newSession(title?: string, options?: { participants?: string[] }): Promise<SessionHandle>
  sessions(): AsyncGenerator<Session>
  /** What the model calls of the namespace have used in the last day. */
  usage(): Promise<UsageSums>
  system(): Promise<Json>
  /** A stream of any route. */
  feed(route: string, options?: { after?: string; signal?: AbortSignal }): AsyncGenerator<FeedEvent>
}

export interface StartOptions {
  /** Your own id of the task; with the same one again, within a day, no second task is made. */
  id?: string
  agent?: string
  session?: string
  metadata?: Record<string, unknown>
  /** Lower goes first, 100 to 999. */
  priority?: number
  model?: string
  callbackUrl?: string
  /** A task that has not begun after so long is no longer worth it. */
  ttl?: Time
  /**
   * Who takes part in the session from now on: agents by name, and `user` for people. Without an agent the text goes to those
   * that it mentions with `@name`.
   */
  participants?: string[]
  /** What the person is called who says it; agents are shown it. */
  sender?: string
  signal?: AbortSignal
}

export interface TaskSearch {
  state?: TaskState
  sessionId?: string
  agent?: string
  waitingFor?: string
  text?: string
}

export interface WatchOptions {
  /** Only what comes after this place, which an event's `cursor` named. */
  after?: string
  /** With what models say while they say it. */
  text?: boolean
  /** Only these types, as on the wire. */
  types?: string[]
  signal?: AbortSignal
}

/** A task by its id. */
export class TaskHandle {
  readonly id: string
  get(): Promise<Task>
  /** From its first event on until its end, over restarts of the gateway. */
  events(options?: WatchOptions & { follow?: boolean }): AsyncGenerator<FeedEvent>
  log(): AsyncGenerator<JournalEntry>
  history(): AsyncGenerator<Move>
  /** Waits for the end: TaskFailedError, TaskCancelledError, TaskNotDoneError. At first for 10 minutes. */
  result(options?: { timeout?: Time; signal?: AbortSignal }): Promise<TaskResult>
  answer(text: string): Promise<ControlAccepted>
  resume(newInput?: string): Promise<ControlAccepted>
  suspend(reason?: string): Promise<ControlAccepted>
  cancel(reason?: string): Promise<ControlAccepted>
}

export interface TaskResult {
  taskId: string
  text: string
  usage?: { inputTokens: number; outputTokens: number }
}

/** An agent by its name. */
export class AgentHandle {
  readonly name: string
  get(): Promise<Agent>
  start(text: string, options?: StartOptions): Promise<TaskHandle>
}

/** A conversation by its id. */
export class SessionHandle {
  readonly id: string
  get(): Promise<Session>
  start(text: string, options?: StartOptions): Promise<TaskHandle>
  /** Answers the question that a task waits with, or else begins a task. */
  prompt(content: string): Promise<SessionPrompted>
  /** The newest ones, the oldest of those first. */
  messages(options?: { limit?: number }): Promise<SessionMessage[]>
  /** Begins now, unless `after` says otherwise, and does not end. */
  events(options?: WatchOptions): AsyncGenerator<FeedEvent>
  interrupt(): Promise<SessionInterrupted>
  delete(): Promise<SessionDeleted>
}

export interface Decision {
  by?: string
  /** All that the tool gets, in place of what was asked for. */
  params?: Record<string, unknown>
}

export interface Rejection {
  by?: string
  reason?: string
}

/** Tool calls that wait for a person. */
export class Approvals {
  open(filter?: { taskId?: string; sessionId?: string; toolName?: string }): AsyncGenerator<Approval>
  get(callId: string): Promise<Approval>
  approve(callId: string, decision?: Decision): Promise<ControlAccepted>
  reject(callId: string, rejection?: Rejection): Promise<ControlAccepted>
}

/** What the agents of a namespace remember. Whatever is changed is changed under the tag of what it replaces (status 412). */
export class Memory {
  documents(): AsyncGenerator<MemoryVersion>
  find(name: string): Promise<{ text: string; etag: string } | undefined>
  versions(name: string): Promise<MemoryVersion[]>
  read(name: string, version: number): Promise<string>
  create(name: string, content: string, options?: { by?: string }): Promise<MemoryVersion>
  replace(name: string, content: string, etag: string, options?: { by?: string }): Promise<MemoryVersion>
  delete(name: string, etag: string, options?: { by?: string }): Promise<void>
  restore(name: string, version: number, etag: string, options?: { by?: string }): Promise<MemoryVersion>
}

/** What follows from events of the outside world. */
export class Rules {
  all(): Promise<Rule[]>
  get(id: string): Promise<Rule>
  put(id: string, rule: Record<string, unknown>): Promise<Rule>
  delete(id: string): Promise<void>
}

/** Tasks that are due by the clock. */
export class Schedules {
  all(): Promise<Schedule[]>
  get(name: string): Promise<Schedule>
  put(name: string, definition: ScheduleDefinition): Promise<Schedule>
  delete(name: string): Promise<void>
  pause(name: string): Promise<void>
  resume(name: string): Promise<void>
  fire(name: string, options?: { id?: string }): Promise<TaskHandle>
}

/** Records that could not be read or were not taken. */
export class DeadLetters {
  all(filter?: { reason?: string; taskId?: string }): AsyncGenerator<DeadLetter>
  get(cursor: string): Promise<DeadLetter>
  /** As it came, or with another payload in place of its own. */
  redrive(cursor: string, payload?: Record<string, unknown>): Promise<DeadLetterRedriven>
  /** All of a kind, as far as one answer goes; `next` is the `cursor` of the next filter. */
  redriveAll(filter: DeadLetterFilter): Promise<{ redriven: DeadLetterRedriven[]; kept: string[]; next: string | null }>
  /** Has one be shown no more: nothing is to become of it. */
  discard(cursor: string): Promise<DeadLetterDiscarded>
  discardAll(filter: DeadLetterFilter): Promise<{ discarded: DeadLetterDiscarded[]; next: string | null }>
}

/** What was accepted, as items of a queue, in which higher priorities go first. */
export class Queue {
  /** The newest first. Those that are `dead_letter` are listed if they are asked for, to who may see everything. */
  all(filter?: { status?: QueueStatus; sessionId?: string }): AsyncGenerator<QueueItem>
  /** Those of a session that wait for their turn, the next one first. */
  waiting(sessionId: string): AsyncGenerator<QueueItem>
  get(eventId: string): Promise<QueueItem>
  /** The same id a second time changes nothing. */
  put(sessionId: string, event: QueuedEvent): Promise<QueuedItem>
  /** Sends what is failed, expired or cancelled once more, as it was or with another payload. */
  retry(eventId: string, payload?: Record<string, unknown>): Promise<QueuedItem>
}

/** What is put into a queue. */
export interface QueuedEvent {
  /** Such as `MESSAGE_RECEIVED`. */
  type: string
  payload?: Record<string, unknown>
  /** Absent = a new one. */
  id?: string
  /** Higher goes first, at most 900; absent = as the type has it. */
  priority?: number
  /** What nobody has begun to work on after so long is no longer worth it. */
  ttl?: Time
  /** The event that has led to it. */
  parentEventId?: string
}

/** Something that happened elsewhere, as a CloudEvent 1.0. */
export interface OutsideEvent {
  /** The same one again, from the same source, changes nothing. */
  id?: string
  type: string
  /** A URI reference. */
  source: string
  sessionId?: string
  data?: unknown
}

/** Events: sent, and followed back to what caused them. */
export class Events {
  /** Returns when they are stored, with their ids in order. */
  publish(...events: OutsideEvent[]): Promise<string[]>
  /** The event itself last; at most the 500 nearest. */
  chain(eventId: string): Promise<JournalEntry[]>
  /** Everything in the namespace; begins now, and does not end. */
  all(options?: WatchOptions): AsyncGenerator<FeedEvent>
}

interface Told<T extends string> {
  type: T
  /** On the wire, such as `TASK_CREATED` or `stream.text`. */
  wireType: string
  /** Where the feed stands after this event; opaque, to be kept. */
  cursor: string
  taskId: string
  json: any
}

export type TextEvent = Told<'text'> & { callId: string; attempt: number; delta: string }
/** What was said in this call so far is void. */
export type RestartEvent = Told<'restart'> & { callId: string; attempt: number }
export type ToolCallEvent = Told<'tool-call'> & { callId: string; toolName: string; params: Record<string, any> }
export type ToolResultEvent = Told<'tool-result'> & { callId: string; error?: string }
export type ApprovalEvent = Told<'approval'> & {
  callId: string
  toolName: string
  params: Record<string, any>
  reason?: string
  expiresAt?: string
  approve(decision?: Decision): Promise<ControlAccepted>
  reject(rejection?: Rejection): Promise<ControlAccepted>
}
export type QuestionEvent = Told<'question'> & { question: string; answer(text: string): Promise<ControlAccepted> }
export type CompletedEvent = Told<'completed'> & { text?: string }
export type FailedEvent = Told<'failed'> & { code: string; error: string }
export type CancelledEvent = Told<'cancelled'> & { reason?: string }
/** Anything else; later versions may tell more of it apart. */
export type OtherEvent = Told<'other'>

export type FeedEvent =
  | TextEvent | RestartEvent | ToolCallEvent | ToolResultEvent | ApprovalEvent | QuestionEvent
  | CompletedEvent | FailedEvent | CancelledEvent | OtherEvent

/** What is said, with what belongs to it. */
export interface RunMessage {
  content: string
  /** The conversation; absent = a new one. */
  threadId?: string
  metadata?: Record<string, unknown>
  sender?: { name: string }
}

export interface RunOptions {
  /** With TOKEN events, what the model says while it says it; at first without. */
  stream?: boolean
  /** When `run` returns: as soon as the message is stored (at first), or when all is done. */
  ackMode?: 'immediate' | 'onComplete'
  /** Cancels the task when it is aborted. */
  signal?: AbortSignal
  /** A message that nobody has begun to work on after so long is no longer worth it. */
  ttl?: Time
  namespace?: string
  /**
   * One: the agent that is to do it. Several: with `user` they are the participants of the thread from now on, those have the
   * word that are mentioned with `@name`, and the run is done when nobody has it any more.
   */
  agents?: string[]
}

export interface RunEvent {
  /** TOKEN, NEW_MESSAGE, TOOL_CALL, or the type of any other event as it is in the journal. */
  type: string
  taskId: string
  threadId: string
  cursor: string
  /** TOKEN: token, isComplete, threadId, agentName. TOOL_CALL: toolName, params. NEW_MESSAGE: content, sender.name. Others: as in the journal. */
  payload: any
  /** Of APPROVAL_REQUESTED. */
  approve?(decision?: Decision): Promise<ControlAccepted>
  /** Of APPROVAL_REQUESTED. */
  reject?(rejection?: Rejection): Promise<ControlAccepted>
  /** Of TASK_SUSPENDED with a question. */
  answer?(text: string): Promise<ControlAccepted>
}

export type RunListener = (event: RunEvent) => void | Promise<void>

export interface RunCallbacks {
  /** For each event of every run. */
  onEvent?: RunListener
  /** For each TOKEN of every run that streams. */
  onContentStream?: RunListener
}

export type RunOutcome =
  | { status: 'completed'; text: string }
  | { status: 'failed'; code: string; error: string }
  | { status: 'cancelled'; reason?: string }

export interface RunHandle {
  /** The id of what was queued, which is that of its task. */
  queueId: string
  threadId: string
  status: 'queued'
  /** The same events as `onEvent` gets, from the first on; may be iterated more than once. */
  events: AsyncIterable<RunEvent>
  /** Resolves when all is done; rejects if listening fails, or a listener does. */
  done: Promise<RunOutcome>
  cancel(reason?: string): Promise<void>
}

/** Requests as they are: for routes that have no method of their own. */
export class GatewayHttp {
  constructor(options: MillraceOptions)
  get(route: string): Promise<any>
  post(route: string, body?: unknown, headers?: Record<string, string>): Promise<any>
  put(route: string, body: unknown, headers?: Record<string, string>): Promise<any>
  delete(route: string, headers?: Record<string, string>): Promise<any>
  json(method: string, route: string, body?: unknown, headers?: Record<string, string>): Promise<any>
  text(route: string): Promise<{ text: string; etag: string }>
}

/** Something that was asked of Millrace did not come about. */
export class MillraceError extends Error {}
/** Nobody answered, or the connection broke: whether the request was taken is not known. */
export class UnreachableError extends MillraceError {}
/** The gateway answered, and the answer was no (RFC 9457). */
export class RequestRefusedError extends MillraceError {
  readonly status: number
  /** A stable word such as `unknown_task`; empty if what answered gave none. */
  readonly code: string
  /** After so many milliseconds the same request may be taken. */
  readonly retryAfter?: number
}
export class TaskFailedError extends MillraceError {
  readonly taskId: string
  readonly code: string
}
export class TaskCancelledError extends MillraceError {
  readonly taskId: string
}
/** It goes on, and may be waited for again. */
export class TaskNotDoneError extends MillraceError {
  readonly taskId: string
}

// What the gateway answers: as in its OpenAPI document, under the same names.

export type TaskState = string

export interface Task {
  taskId: string
  namespace: string
  sessionId: string | null
  taskType: string | null
  agent: string | null
  state: TaskState
  inputText: string
  priority: number
  createdAt: number
  updatedAt: number
  iterations: number
  response: string | null
  error: string | null
  errorCode: string | null
  question: string | null
  firstCursor: string
  lastCursor: string
  note?: string | null
  parentTaskId?: string | null
}

export interface TaskBulkRequest {
  action: 'cancel' | 'suspend' | 'resume'
  /** These, 1 to 200; or else a filter. */
  ids?: string[]
  /** All that it matches; `{}` = all of the namespace. */
  filter?: TaskBulkFilter
  reason?: string
  /** Whether nothing is to be done: the answer says what would be. */
  dryRun?: boolean
  limit?: number
  cursor?: string
}

export interface TaskBulkFilter extends TaskSearch {
  errorCode?: string
  parentTaskId?: string
  forkedFrom?: string
  createdAfter?: string
  createdBefore?: string
}

export interface TaskBulkOutcome {
  action: string
  dryRun: boolean
  /** Of a dry run: how many are meant, over all pages, by state. */
  matched: { states: Record<string, number>; complete: boolean } | null
  items: TaskBulkItem[]
  next: string | null
}

export interface TaskBulkItem {
  taskId: string
  state: string | null
  status: 'accepted' | 'possible' | 'refused'
  eventId: string | null
  code: string | null
  detail: string | null
}

export interface Move {
  fromState: string
  toState: string
  triggerEventType: string
  triggerEventId: string
  timestamp: number
  cursor: string
}

export interface JournalEntry {
  id: string
  type: string
  timestamp: number
  source: string
  taskId: string | null
  sessionId: string | null
  namespace: string
  correlationId: string
  parentEventId?: string
  effectivePriority: number
  payload: Record<string, any>
  cursor: string
}

export interface ControlAccepted {
  taskId: string
  eventId: string
  sessionId: string | null
  status: string
  note: string | null
}

export interface Agent {
  name: string
  description: string
  version: string
  source: string
  tools: string[]
  missingTools: string[]
  model: string | null
  subAgents: string[]
}

export interface Tool {
  name: string
  description: string
  parameters: Record<string, any>
  toolset: string
  timeoutMs: number
  sideEffects: string
}

export interface Session {
  sessionId: string
  namespace: string
  title: string | null
  createdAt: number
  updatedAt: number
  /** Agents by name, and `user` for people; empty = one agent at a time. */
  participants: string[]
}

export interface SessionPrompted {
  success: boolean
  sessionId: string
  message: string
  eventId: string
}

export interface SessionMessage {
  id: string
  role: 'user' | 'assistant'
  content: string
  timestamp: number
  taskId: string
  cursor: string
}

export interface SessionInterrupted {
  sessionId: string
  interrupted: boolean
  taskIds: string[]
}

export interface SessionDeleted {
  sessionId: string
  forgetId: string
  status: string
}

export interface Approval {
  callId: string
  taskId: string
  sessionId: string | null
  namespace: string
  toolName: string
  params: Record<string, any>
  reason: string | null
  requestedAt: number
  expiresAt: string | null
  eventId: string
}

export interface MemoryVersion {
  path: string
  version: number
  etag: string
  summary: string
  size: number
  updatedAt: string
  updatedBy: string
  deleted: boolean
}

export interface Rule {
  id: string
  on: string[]
  priority: number
  enabled: boolean
  handler: string
  version: string
  source: string
  rule: Record<string, any>
}

export interface Schedule {
  name: string
  namespace: string
  cron?: string
  at?: string
  zone: string
  missed: string
  overlap: string
  sessionId?: string
  /** In milliseconds. */
  ttl?: number
  text?: string
  template?: string
  paused: boolean
  next: string[]
}

export interface ScheduleDefinition {
  cron?: string
  at?: string
  zone?: string
  missed?: 'skip' | 'one' | 'all'
  missedLimit?: number
  overlap?: 'allow' | 'skip'
  sessionId?: string
  priority?: number
  /** In milliseconds: what nobody has begun after so long is no longer wanted. */
  ttl?: number
  text?: string
  template?: string
  body?: unknown
  taskType?: string
  metadata?: Record<string, unknown>
  callbackUrl?: string
  paused?: boolean
}

export interface DeadLetter {
  cursor: string
  reason: string | null
  detail: string | null
  timestamp: number
  originTopic: string | null
  eventId: string | null
  type: string | null
  taskId: string | null
  namespace: string
  key: string | null
  value: string | null
  valueBytes: number
}

export interface DeadLetterRedriven {
  cursor: string
  eventId: string | null
  topic: string
  status: string
}

export interface DeadLetterDiscarded {
  cursor: string
  eventId: string | null
  status: string
}

/** Which dead letters are meant; one of the first three is needed. */
export interface DeadLetterFilter {
  reason?: string
  taskId?: string
  type?: string
  limit?: number
  cursor?: string
}

export type QueueStatus =
  'pending' | 'processing' | 'completed' | 'failed' | 'expired' | 'overwritten' | 'cancelled' | 'dead_letter'

export interface QueueItem {
  id: string
  threadId?: string
  type: string
  payload: Record<string, any>
  status: QueueStatus
  /** Higher goes first. */
  priority: number
  ttl?: number
  traceId?: string
  parentEventId?: string
  namespace: string
  createdAt: number
  updatedAt: number
  taskId?: string
  waitingFor?: WaitingFor
  reason?: string
  error?: string
  /** Its cursor among the dead letters. */
  deadLetter?: string
}

export interface WaitingFor {
  kind: string
  callIds: string[]
  question: string | null
  since: number
  /** RFC 3339. */
  until: string | null
}

export interface QueuedItem {
  id: string
  threadId: string | null
  status: string
  /** The event of which this is another try. */
  retryOf?: string
}

export interface UsageSums {
  calls: number
  failedCalls: number
  inputTokens: number
  outputTokens: number
  cachedInputTokens: number
  reasoningTokens: number
  costMicros: number
}

// What waits for a person: approvals and questions in one line, the one that has waited longest first.
import { html, nothing } from 'lit'
import { repeat } from 'lit/directives/repeat.js'
import { get, namespace, path, scoped, Live } from '../api.js'
import { coarse, duration, effects, line, plain } from '../format.js'
import { Turn } from '../story.js'
import { Screen, asCurl, at, empty, keysFree, moment, problem, sessionLink, taskLink } from '../ui.js'

const WATCHED = 'APPROVAL_REQUESTED,APPROVAL_DECIDED,TASK_STATE_CHANGED,TASK_CANCELLED,TASK_FAILED'

/** So many events of a task are read for what was said before, and so much of it is shown. */
const PAGE = 500
const PAGES = 4
const LAST = 6

class Inbox extends Screen {
  static properties = { items: { state: true }, chosen: { state: true }, tools: { state: true }, fresh: { state: true }, sent: { state: true }, about: { state: true }, before: { state: true }, cut: { state: true }, rules: { state: true } }

  #live = null
  #timer = 0
  #keys = event => this.press(event)

  constructor() {
    super()
    this.items = []
    this.chosen = null
    this.tools = new Map()
    this.fresh = 0
    this.sent = new Set()
    this.about = null
    this.before = null
    this.cut = false
    this.rules = new Map()
  }

  connectedCallback() {
    super.connectedCallback()
    document.addEventListener('keydown', this.#keys)
    this.load()
    this.attempt(async () => {
      this.tools = new Map((await get('/v1/tools', this.signal)).tools.map(tool => [tool.name, tool]))
    })
    this.#live = new Live(path('/v1/stream', { types: WATCHED, namespace: namespace() }), {
      event: () => { this.#timer ||= setTimeout(() => { this.#timer = 0; this.load() }, 300) },
    })
  }

  disconnectedCallback() {
    super.disconnectedCallback()
    document.removeEventListener('keydown', this.#keys)
    this.#live?.close()
    clearTimeout(this.#timer)
  }

  async load() {
    await this.attempt(async () => {
      const [approvals, questions] = await Promise.all([
        get(scoped('/v1/approvals', { limit: 200 }), this.signal),
        get(scoped('/v1/tasks', { waitingFor: 'answer', limit: 200 }), this.signal),
      ])
      const items = [
        ...approvals.approvals.map(one => ({ key: one.callId, kind: 'approval', since: one.requestedAt, until: one.expiresAt && Date.parse(one.expiresAt), approval: one, taskId: one.taskId, sessionId: one.sessionId })),
        ...questions.tasks.map(task => ({ key: `question ${task.taskId} ${task.question}`, kind: 'question', since: task.waitingFor?.since ?? task.updatedAt, until: task.waitingFor?.until && Date.parse(task.waitingFor.until), task, taskId: task.taskId, sessionId: task.sessionId })),
      ].sort((a, b) => a.since - b.since)
      this.items = items
      this.cut = approvals.next != null || questions.next != null
      this.sent = new Set([...this.sent].filter(key => items.some(item => item.key === key)))
      if (!items.some(item => item.key === this.chosen)) this.open(items.find(item => !this.sent.has(item.key)))
      dispatchEvent(new CustomEvent('mill-count'))
    })
    this.loading = false
  }

  /** Opens one, with what was said before. */
  async open(item) {
    this.chosen = item?.key ?? null
    this.about = null
    this.before = null
    if (!item) return
    try {
      const task = item.task ?? await get(scoped(`/v1/tasks/${encodeURIComponent(item.taskId)}`), this.signal)
      if (this.chosen === item.key) this.about = task
      if (item.approval) this.rule(task.agent ?? task.taskType)
      const before = await this.saidIn(item)
      if (this.chosen === item.key) this.before = before
    } catch {
      // it can be decided without
    }
  }

  /** What was said and done in the task until it asked; the end of it. */
  async saidIn(item) {
    const turn = new Turn(item.taskId)
    let after
    for (let pages = 0; pages < PAGES; pages++) {
      const page = await get(scoped(`/v1/tasks/${encodeURIComponent(item.taskId)}/events`, { limit: PAGE, after }), this.signal)
      page.events.forEach(event => turn.add(event))
      after = page.next
      if (!after) break
    }
    const blocks = turn.blocks.filter(block => ['person', 'note'].includes(block.kind) || (block.kind === 'tool' && block.done) || (block.kind === 'call' && block.text) || (block.kind === 'approval' && block.decision) || (block.kind === 'question' && block.answered))
    return { blocks: blocks.slice(-LAST), left: blocks.length > LAST || !!after }
  }

  /** What the agent's own definition says about approvals. */
  async rule(agent) {
    if (!agent || this.rules.has(agent)) return
    const view = await get(`/v1/agents/${encodeURIComponent(agent)}`, this.signal).catch(() => null)
    this.rules = new Map(this.rules).set(agent, view?.approval ?? [])
  }

  /** What was just asked for is done with; the next one opens itself. */
  done(item) {
    this.sent = new Set([...this.sent, item.key])
    const at = this.items.indexOf(item)
    const next = [...this.items.slice(at + 1), ...this.items.slice(0, at)].find(one => !this.sent.has(one.key))
    if (next) this.open(next)
    this.#timer ||= setTimeout(() => { this.#timer = 0; this.load() }, 500)
  }

  press(event) {
    if (!keysFree(event)) return
    const form = this.querySelector('mill-decision')
    if (!form) return
    if (event.key === 'a') form.decide('approve')
    else if (event.key === 'r') form.decide('reject')
    else if (event.key === 'e') {
      event.preventDefault()
      form.edit()
    }
  }

  render() {
    const item = this.items.find(one => one.key === this.chosen)
    return html`
      <div class="head"><h1>Inbox</h1><span class="faint">${this.items.length ? `${this.items.length}${this.cut ? '+' : ''} ${this.items.length === 1 ? 'waits' : 'wait'} for a person` : ''}</span></div>
      ${problem(this.problem)}
      ${this.items.length ? html`<div class="split">
        <ol class="list-of">${repeat(this.items, one => one.key, one => html`<li class="row"><button type="button" class="main item" aria-current=${one.key === this.chosen ? 'true' : nothing} @click=${() => this.open(one)}>
          <span class="kind ${one.kind}">${one.kind}</span> <span class="what">${one.kind === 'approval' ? plain(one.approval.toolName) : plain(line(one.task.question, 60))}</span>
          <span class="faint">${coarse(Math.max(0, this.now - one.since))}${one.until ? ` · ${coarse(Math.max(0, one.until - this.now))} left` : ''}${this.sent.has(one.key) ? ' · asked' : ''}</span></button></li>`)}
          ${this.cut ? html`<li class="faint">More wait; they come as these are decided.</li>` : nothing}</ol>
        ${item ? this.detail(item) : nothing}</div>`
        : this.loading ? html`<p class="faint">Loading…</p>` : empty('Nobody waits for you. An agent asks if its definition says so, or calls ask_user:', './millrace ask "ask me about my favourite wheel"')}
      ${asCurl('GET', scoped('/v1/approvals'))}`
  }

  ruleOf(item) {
    const agent = this.about?.agent ?? this.about?.taskType
    const rules = this.rules.get(agent)
    if (!rules) return html`<span class="faint">…</span>`
    const rule = rules.find(one => new RegExp(`^${one.tools.split('*').map(part => part.replace(/[^\w]/g, '\\$&')).join('.*')}$`).test(item.approval.toolName))
    if (!rule) return html`the tool’s own; <a href=${at(`/agents/${encodeURIComponent(agent)}`)}>${plain(agent)}</a> has none for it`
    return html`<code>${plain(rule.tools)}: ${plain(typeof rule.approval === 'string' ? rule.approval : JSON.stringify(rule.approval))}</code>${rule.expiryMs ? `, for ${duration(rule.expiryMs)}` : ''}${rule.onExpiry ? `, then ${rule.onExpiry}` : ''} <span class="faint">of <a href=${at(`/agents/${encodeURIComponent(agent)}`)}>${plain(agent)}</a></span>`
  }

  said(item) {
    const words = block => block.kind === 'tool' ? html`<span class="kind tool">tool</span> ${plain(block.name)} <span class="faint">${plain(line(JSON.stringify(block.params ?? {}), 120))}</span>${block.error ? html` <span class="error">✕ ${plain(line(block.error, 120))}</span>` : ''}`
      : block.kind === 'approval' ? html`<span class="kind approval">approval</span> ${plain(block.toolName)}: ${block.decision}`
      : html`<span class="kind ${block.kind === 'call' ? 'model' : block.kind}">${block.kind === 'call' ? 'agent' : block.kind}</span> ${plain(line(block.text, 500))}`
    return html`<section class="said" aria-label="What was said before"><h3>What was said before</h3>
      ${this.before.left ? html`<p class="faint"><a href=${at(`/tasks/${encodeURIComponent(item.taskId)}`)}>All of it</a> is on the page of the task; the end of it:</p>` : nothing}
      <ol class="plain">${this.before.blocks.map(block => html`<li>${words(block)}</li>`)}</ol></section>`
  }

  detail(item) {
    const task = this.about
    return html`<section class="detail" aria-label="What is asked">
      <h2>${item.kind === 'approval' ? html`${plain(item.approval.toolName)} wants to run` : 'A question'}</h2>
      <dl class="facts"><dt>Task</dt><dd>${taskLink(item.taskId)}</dd>
        ${item.sessionId ? html`<dt>Session</dt><dd>${sessionLink(item.sessionId)}</dd>` : nothing}
        <dt>Agent</dt><dd>${plain(item.approval?.taskType ?? item.task?.taskType ?? '')}</dd>
        <dt>Waits</dt><dd>since ${moment(item.since, this.now)}${item.until ? html`, decides itself ${moment(item.until, this.now)}` : nothing}</dd>
        ${item.approval ? html`<dt>The tool</dt><dd>${effects(this.tools.get(item.approval.toolName)?.sideEffects)}${this.tools.get(item.approval.toolName)?.onExpiry && item.until ? `; if nobody decides: ${this.tools.get(item.approval.toolName).onExpiry}` : ''}</dd>
          <dt>Its rule</dt><dd>${this.ruleOf(item)}</dd>` : nothing}</dl>
      ${this.before ? this.said(item) : task ? html`<p class="said"><span class="faint">It was asked to</span> ${plain(line(task.inputText, 500))}</p>` : nothing}
      ${item.kind === 'approval'
        ? html`<mill-decision .approval=${item.approval} .schema=${this.tools.get(item.approval.toolName)?.parameters} @decided=${() => this.done(item)}></mill-decision>
          <p class="faint keys-line"><kbd>a</kbd> approve <kbd>r</kbd> reject <kbd>e</kbd> edit <kbd>j</kbd> <kbd>k</kbd> next, before</p>`
        : html`<p class="question">${plain(item.task.question)}</p><mill-answer .taskId=${item.taskId} @answered=${() => this.done(item)}></mill-answer>`}
    </section>`
  }
}
customElements.define('mill-inbox', Inbox)

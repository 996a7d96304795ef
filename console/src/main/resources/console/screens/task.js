// One task: what it does, why, and what comes next.
import { html, svg, nothing } from 'lit'
import { repeat } from 'lit/directives/repeat.js'
import { call, get, scoped, Live } from '../api.js'
import { bytes, cost, count, duration, exact, line, plain } from '../format.js'
import { markdown } from '../markdown.js'
import { picture } from '../machine.js'
import { Turn, causes, gist, scale, spans, walked, withSubTasks } from '../story.js'
import '../replay.js'
import '../fork.js'
import { Screen, asCurl, at, confirmed, copyButton, eventLink, moment, problem, raw, say, sessionLink, stateMark, taskLink } from '../ui.js'

const PAGE = 500
/** A page shows so many events before it asks whether there are to be more. */
const FIRST = 2000
const TABS = ['timeline', 'causes', 'replay', 'machine', 'definition']
const ENDED = ['completed', 'failed', 'cancelled']

class TaskScreen extends Screen {
  static properties = { task: { state: true }, events: { state: true }, rest: { state: true }, machine: { state: true }, tools: { state: true }, approvals: { state: true }, parts: { state: true }, moreParts: { state: true }, lost: { state: true }, forks: { state: true }, asked: { state: true }, liveText: { state: true }, agent: { state: true } }

  #live = null
  #ids = new Set()
  #timer = 0
  #turn = null
  #frame = 0

  constructor() {
    super()
    this.task = null
    this.events = []
    this.rest = null
    this.machine = null
    this.tools = new Map()
    this.approvals = []
    this.parts = []
    this.moreParts = false
    this.forks = []
    this.lost = false
    this.asked = ''
    this.liveText = ''
    this.agent = null
  }

  connectedCallback() {
    super.connectedCallback()
    this.begin()
  }

  disconnectedCallback() {
    super.disconnectedCallback()
    this.#live?.close()
    clearTimeout(this.#timer)
    cancelAnimationFrame(this.#frame)
  }

  url(more = '') {
    return `/v1/tasks/${encodeURIComponent(this.params.taskId)}${more}`
  }

  async begin() {
    this.#turn = new Turn(this.params.taskId)
    await this.attempt(async () => {
      this.task = await get(scoped(this.url()), this.signal)
      let upTo
      let after
      do {
        const page = await get(scoped(this.url('/events'), { limit: PAGE, after }), this.signal)
        this.take(page.events)
        after = page.next
        upTo = page.upTo
      } while (after && this.events.length < FIRST)
      this.rest = after
      this.loading = false
      // what is read after the task may tell of its end already, and then nothing follows that would have it read again
      if (this.#turn.ended && !ENDED.includes(this.task.state)) await this.refresh()
      this.listen(upTo ?? this.events.at(-1)?.cursor)
    })
    this.loading = false
    if (!this.task) return
    this.around()
    this.attempt(async () => { this.machine = await get('/v1/machine', this.signal) })
    this.attempt(async () => { this.tools = new Map((await get('/v1/tools', this.signal)).tools.map(tool => [tool.name, tool])) })
  }

  /** The rest of a very long task. */
  async more() {
    await this.attempt(async () => {
      for (let pages = 0; this.rest && pages < 4; pages++) {
        const page = await get(scoped(this.url('/events'), { limit: PAGE, after: this.rest }), this.signal)
        this.take(page.events)
        this.rest = page.next
      }
    })
  }

  take(events) {
    const fresh = events.filter(event => !this.#ids.has(event.id))
    if (!fresh.length) return
    for (const event of fresh) {
      this.#ids.add(event.id)
      this.#turn.add(event)
    }
    this.events = [...this.events, ...fresh]
  }

  listen(from) {
    this.#live = new Live(scoped(this.url('/stream'), { tokens: 'stream', follow: 'true' }), {
      event: (type, event) => {
        if (type.startsWith('stream.')) this.#turn.hear(type, event)
        else {
          this.take([event])
          this.soon(250)
        }
        this.#frame ||= requestAnimationFrame(() => {
          this.#frame = 0
          const call = this.#turn.blocks.findLast(block => block.kind === 'call')
          this.liveText = call && !call.final ? call.text || call.thinking : ''
        })
      },
      state: state => { this.lost = state === 'lost' },
    }, from)
  }

  soon(millis) {
    this.#timer ||= setTimeout(() => { this.#timer = 0; this.refresh() }, millis)
  }

  /** Reads the task again; and once more, as long as it is behind an end that its events tell of. */
  async refresh() {
    await this.attempt(async () => {
      const before = this.task?.state
      this.task = await get(scoped(this.url()), this.signal)
      if (this.#turn.ended && !ENDED.includes(this.task.state)) this.soon(1000)
      if (before !== this.task.state) {
        this.asked = ''
        if (ENDED.includes(this.task.state)) say(`The task has ${this.task.state}`)
      }
    })
    this.around()
  }

  /** What is not the task's own: open approvals, and the tasks that it started. */
  async around() {
    try {
      const [approvals, children, forks] = await Promise.all([
        get(scoped('/v1/approvals', { taskId: this.params.taskId, limit: 50 }), this.signal),
        get(scoped('/v1/tasks', { parentTaskId: this.params.taskId, limit: 100 }), this.signal),
        get(scoped('/v1/tasks', { forkedFrom: this.params.taskId, limit: 100 }), this.signal),
      ])
      this.approvals = approvals.approvals
      this.parts = children.tasks
      this.moreParts = children.next != null
      this.forks = forks.tasks
    } catch {
      // the task itself is shown all the same
    }
  }

  async control(action) {
    if (action === 'cancel' && !await confirmed('Cancel this task? It stays ended; what it has done stays done.')) return
    await this.attempt(async () => {
      await call('POST', scoped(this.url(`/${action}`)), { body: {} })
      this.asked = action
      say(`Asked to ${action}`)
    })
  }

  tab(name) {
    this.filter({ tab: name === TABS[0] ? null : name, event: null }, false)
  }

  pick(eventId) {
    this.filter({ event: this.query.get('event') === eventId ? null : eventId })
  }

  /** From its beginning, unless an event is looked at. */
  async fork() {
    const picked = this.events.find(event => event.id === this.query.get('event')) ?? this.events.find(event => event.id === this.params.taskId)
    if (picked) this.filter({ event: picked.id })
    await this.updateComplete
    await new Promise(resolve => requestAnimationFrame(resolve))
    const form = this.querySelector('mill-fork textarea')
    form?.scrollIntoView({ block: 'center' })
    form?.focus()
  }

  render() {
    const task = this.task
    if (!task) return html`<h1>Task</h1>${problem(this.problem)}${this.loading ? html`<p class="faint">Loading…</p>` : nothing}`
    const tab = TABS.includes(this.query.get('tab')) ? this.query.get('tab') : TABS[0]
    const picked = this.events.find(event => event.id === this.query.get('event'))
    const ended = ENDED.includes(task.state)
    return html`
      <div class="head"><h1 class="task-title">${stateMark(task.state)} <span>${plain(line(task.inputText, 120)) || 'Task'}</span></h1></div>
      <p class="crumbs">${plain(task.agent ?? task.taskType)}${task.agentVersion ? html` <span class="faint">${task.agentVersion}</span>` : nothing} · <span class="id">${plain(task.taskId)}</span> ${copyButton(task.taskId, 'Copy the id')}
        ${task.sessionId ? html` · session ${sessionLink(task.sessionId)}` : nothing}
        ${task.parentTaskId ? html` · part of ${taskLink(task.parentTaskId)}` : nothing}
        ${task.forkedFrom ? html` · forked from ${taskLink(task.forkedFrom.taskId)}, <a href=${at(`/compare/${encodeURIComponent(task.forkedFrom.taskId)}/${encodeURIComponent(task.taskId)}`)}>side by side</a>` : nothing}
        · begun ${moment(task.createdAt, this.now)}${ended ? html` · took ${duration((this.#turn?.endedAt ?? task.updatedAt) - task.createdAt)}` : nothing}
        ${this.lost ? html`<span class="faint" role="status"> · not live now, trying again</span>` : nothing}</p>
      ${problem(this.problem)}
      ${task.state === 'failed' ? html`<div class="failure" role="alert"><strong>${plain(task.errorCode ?? 'failed')}</strong><pre tabindex="0">${plain(task.error ?? '')}</pre></div>` : nothing}
      ${task.state === 'cancelled' ? html`<p class="note">Cancelled${task.error ? html`: ${plain(task.error)}` : nothing}</p>` : nothing}
      ${this.waits(task)}
      ${task.note ? html`<p class="note">${plain(task.note)}</p>` : nothing}
      ${this.liveText ? html`<section class="live" aria-label="What the model says now"><pre>${plain(this.liveText)}</pre></section>` : nothing}
      ${task.response ? html`<section class="answer-box" aria-label="Answer">${markdown(task.response)}</section>` : nothing}
      <div class="actions">
        ${ended ? nothing : html`
          ${task.state === 'suspended' && task.waitingFor?.kind === 'resume' ? html`<button type="button" @click=${() => this.control('resume')}>Resume</button>` : html`<button type="button" @click=${() => this.control('suspend')}>Suspend</button>`}
          <button type="button" class="danger" @click=${() => this.control('cancel')}>Cancel…</button>`}
        <button type="button" @click=${() => this.fork()}>Fork…</button>
        ${task.sessionId ? html`<a class="button" href=${at(`/sessions/${encodeURIComponent(task.sessionId)}`)}>Open as chat</a>` : nothing}
        ${this.asked ? html`<span class="faint" role="status">Asked to ${this.asked}; the task has not said so yet.</span>` : nothing}
      </div>
      ${this.budget(task)}
      ${this.parts.length ? html`<section aria-label="Sub-tasks"><h2>Sub-tasks</h2><ul class="plain">${this.parts.map(child => html`<li class="row">${stateMark(child.state)} ${taskLink(child.taskId, html`${plain(line(child.inputText, 80))}`)} <span class="faint">${plain(child.agent ?? child.taskType)}${child.waitingFor ? ` · waits for ${child.waitingFor.kind}` : ''}</span></li>`)}</ul>${this.moreParts ? html`<p class="faint">The newest ${this.parts.length}; <a href=${at('/tasks', { parentTaskId: task.taskId })}>all of them</a>.</p>` : nothing}</section>` : nothing}
      ${this.forks.length ? html`<section aria-label="Forks"><h2>Forks</h2><ul class="plain">${this.forks.map(fork => html`<li class="row">${stateMark(fork.state)} ${taskLink(fork.taskId, html`${plain(line(fork.inputText, 80))}`)} <a href=${at(`/compare/${encodeURIComponent(task.taskId)}/${encodeURIComponent(fork.taskId)}`)}>side by side</a></li>`)}</ul></section>` : nothing}
      <div class="tabs" role="tablist" aria-label="Views" @keydown=${this.turn}>${TABS.map(name => html`<button type="button" role="tab" id="tab-${name}" aria-selected=${tab === name} aria-controls="view" tabindex=${tab === name ? 0 : -1} @click=${() => this.tab(name)}>${name[0].toUpperCase() + name.slice(1)}</button>`)}</div>
      <div id="view" role="tabpanel" aria-labelledby="tab-${tab}">
        ${tab === 'timeline' ? this.timeline() : tab === 'causes' ? this.tree() : tab === 'replay' ? html`<mill-replay .taskId=${task.taskId} .length=${this.events.length}></mill-replay>` : tab === 'machine' ? this.stateMachine(task) : this.definition(task)}
        ${this.rest ? html`<button type="button" class="more" @click=${() => this.more()}>More events</button>` : nothing}
      </div>
      ${picked ? html`<section class="picked" aria-label="Event"><div class="head"><h2>${picked.type}</h2>${eventLink(picked.id, 'open the event')}${copyButton(JSON.stringify(picked), 'Copy the event')}<button type="button" class="quiet" @click=${() => this.pick(picked.id)}>close</button></div>${raw(picked)}<mill-fork .task=${task} .event=${picked}></mill-fork></section>` : nothing}
      ${asCurl('GET', scoped(this.url('/events')))}`
  }

  turn(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (!step) return
    const now = TABS.indexOf(this.query.get('tab') ?? TABS[0])
    this.tab(TABS[(now + step + TABS.length) % TABS.length])
    this.updateComplete.then(() => this.querySelector('[role=tab][aria-selected=true]')?.focus())
  }

  /** What it waits for, and the means to let it go on. */
  waits(task) {
    const waits = task.waitingFor
    if (!waits) return nothing
    return html`<section class="waits" aria-label="What it waits for">
      <p><strong>${waits.kind === 'admission' ? 'Waits for its turn' : `Waits for ${waits.kind}`}</strong> since ${moment(waits.since, this.now)} (${duration(this.now - waits.since)})${waits.until ? html`, ends ${moment(Date.parse(waits.until), this.now)}` : nothing}</p>
      ${waits.kind === 'answer' ? html`<p class="question">${plain(task.question ?? waits.question ?? '')}</p><mill-answer .taskId=${task.taskId} @answered=${() => this.refresh()}></mill-answer>` : nothing}
      ${repeat(this.approvals, one => one.callId, one => html`<div class="approval"><h2>${plain(one.toolName)} wants to run</h2><mill-decision .approval=${one} .schema=${this.tools.get(one.toolName)?.parameters}></mill-decision></div>`)}
    </section>`
  }

  budget(task) {
    const budget = task.budget
    if (!budget) return nothing
    const bar = (name, used, most, show = count) => used == null && most == null ? nothing : html`<div class="budget"><span>${name}</span>
      ${most ? html`<meter min="0" max=${most} value=${Math.min(used ?? 0, most)} high=${most * 0.8} aria-label="${name}: ${show(used ?? 0)} of ${show(most)}"></meter>` : nothing}
      <span class="num">${show(used)}${most ? html` <span class="faint">of ${show(most)}</span>` : nothing}</span></div>`
    const life = budget.expiresAt ? Date.parse(budget.expiresAt) : null
    return html`<section class="budgets" aria-label="Budget">
      ${bar('Model calls', budget.iterations, budget.maxIterations)}
      ${bar('Tokens', (budget.inputTokens ?? 0) + (budget.outputTokens ?? 0), budget.maxTokens)}
      ${bar('Cost', budget.costMicros, budget.maxCostMicros, cost)}
      ${life && !ENDED.includes(task.state) ? bar('Life time', Math.max(0, this.now - task.createdAt), life - task.createdAt, duration) : nothing}</section>`
  }

  timeline() {
    const list = withSubTasks(spans(this.events), this.parts)
    if (!list.length) return html`<p class="faint">${this.loading ? 'Loading…' : 'Nothing has taken any time yet.'}</p>`
    const running = list.some(span => span.end == null)
    const now = running ? this.now : list.reduce((last, span) => Math.max(last, span.end), 0)
    const { x, breaks, from, to } = scale(list, now)
    const place = time => (x(time) * 1000).toFixed(1)
    return html`<p class="faint">${exact(from)} to ${exact(to)}${breaks.length ? html` · ${breaks.length} ${breaks.length === 1 ? 'stretch' : 'stretches'} of mere waiting squeezed (dotted)` : nothing}</p>
      <div class="scroll"><table class="list timeline"><thead><tr><th scope="col">What</th><th scope="col">When</th><th scope="col" class="num">Took</th><th scope="col" class="num">Tokens</th><th scope="col" class="num">Cost</th></tr></thead>
      <tbody>${repeat(list, span => span.event, span => {
        const end = span.end ?? now
        const state = span.end == null ? 'running' : span.ok === false ? 'bad' : 'good'
        const left = Number(place(span.start))
        const width = Math.max(3, Number(place(end)) - left)
        const open = this.query.get('event') === span.event
        return html`<tr class="row"><td class="wide">${this.what(span, open, html`<span class="kind ${span.kind}">${span.kind}</span> ${plain(line(span.name, 80))}${state === 'bad' ? html` <span class="error">✕ ${plain(span.code ?? span.note ?? 'failed')}</span>` : state === 'running' ? html` <span class="faint">…</span>` : nothing}${span.attempts > 1 ? html` <span class="faint">${span.attempts} attempts</span>` : nothing}${span.fallback ? html` <span class="faint">fallback</span>` : nothing}${span.note && state !== 'bad' ? html` <span class="faint">${plain(span.note)}</span>` : nothing}`)}</td>
          <td class="when"><svg viewBox="0 0 1000 16" preserveAspectRatio="none" aria-hidden="true" focusable="false">${breaks.map(([a, b]) => svg`<rect class="gap" x=${place(a)} y="0" width=${Math.max(0, place(b) - place(a))} height="16"></rect>`)}<rect class="bar ${span.kind} ${state}" x=${Math.min(997, left)} y="2" width=${width} height="12"></rect></svg></td>
          <td class="num">${duration(end - span.start)}</td>
          <td class="num">${span.usage ? `${count(span.usage.inputTokens)} + ${count(span.usage.outputTokens)}` : ''}</td>
          <td class="num">${span.usage ? cost(span.usage.costMicros) : ''}</td></tr>`
      })}</tbody></table></div>`
  }

  /** A sub-task leads to its own page, everything else to its event. */
  what(span, open, words) {
    return span.taskId
      ? html`<a class="main span" href=${at(`/tasks/${encodeURIComponent(span.taskId)}`)}>${words}</a>`
      : html`<button type="button" class="main span" aria-expanded=${open} @click=${() => this.pick(span.event)}>${words}</button>`
  }

  tree() {
    const rows = causes(this.events)
    const focused = rows.some(row => row.event.id === this.query.get('event')) ? this.query.get('event') : rows[0]?.event.id
    return html`<p class="faint">Each event stands below the one that caused it. ${count(rows.length)} events.</p>
      <div class="tree" role="tree" aria-label="Events and their causes" @keydown=${this.climb}>
      ${repeat(rows, row => row.event.id, row => html`<div role="treeitem" class="event" aria-level=${row.depth + 1} aria-selected=${this.query.get('event') === row.event.id} tabindex=${row.event.id === focused ? 0 : -1} data-depth=${Math.min(row.depth, 8)} @click=${() => this.pick(row.event.id)}>
        <span class="type">${plain(row.event.type)}</span> <span class="gist">${plain(line(gist(row.event), 120))}</span> <span class="faint when">+${duration(row.event.timestamp - rows[0].event.timestamp)}</span></div>`)}</div>`
  }

  climb(event) {
    const items = [...event.currentTarget.querySelectorAll('[role=treeitem]')]
    const now = items.indexOf(event.target)
    const go = to => {
      event.preventDefault()
      items[now].tabIndex = -1
      items[to].tabIndex = 0
      items[to].focus()
    }
    if (event.key === 'ArrowDown' && now + 1 < items.length) go(now + 1)
    else if (event.key === 'ArrowUp' && now > 0) go(now - 1)
    else if (event.key === 'Home') go(0)
    else if (event.key === 'End') go(items.length - 1)
    else if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault()
      items[now].click()
    }
  }

  stateMachine(task) {
    return this.machine ? picture(this.machine, walked(this.events), task.state) : html`<p class="faint">Loading…</p>`
  }

  definition(task) {
    const created = this.events.find(event => event.type === 'TASK_CREATED')
    const first = this.events[0]
    return html`<dl class="facts"><dt>Source</dt><dd>${plain(task.source)}</dd><dt>Priority</dt><dd>${task.priority}</dd>
      <dt>Partition</dt><dd>${task.partition}</dd><dt>Moves</dt><dd>${task.transitions}</dd>
      ${task.callbackUrl ? html`<dt>Tells</dt><dd>${plain(task.callbackUrl)}</dd>` : nothing}
      <dt>Input</dt><dd><pre tabindex="0">${plain(created?.payload.inputText ?? first?.payload?.text ?? task.inputText)}</pre></dd>
      <dt>Size</dt><dd>${bytes(JSON.stringify(this.events).length)} in ${count(this.events.length)} events${this.rest ? ' so far' : ''}</dd>
      ${created?.payload.inputMetadata ? html`<dt>Metadata</dt><dd>${raw(created.payload.inputMetadata)}</dd>` : nothing}</dl>`
  }
}
customElements.define('mill-task', TaskScreen)

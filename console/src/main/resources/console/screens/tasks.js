// The tasks: filters are the address; what changes is changed in place, and what is new waits for a click.
import { html, nothing } from 'lit'
import { repeat } from 'lit/directives/repeat.js'
import { call, get, namespace, path, scoped, Live } from '../api.js'
import { coarse, cost, count, line, plain } from '../format.js'
import { Screen, asCurl, at, confirmed, empty, moment, problem, say, sessionLink, stateMark, taskLink } from '../ui.js'

const STATES = ['idle', 'reasoning', 'acting', 'suspended', 'completed', 'failed', 'cancelled']
const WAITS = ['admission', 'model', 'tools', 'answer', 'approval', 'resume', 'children']
const FILTERS = ['state', 'waitingFor', 'agent', 'errorCode', 'text', 'sessionId', 'parentTaskId', 'createdAfter', 'createdBefore']
const PAGE = 50
/** No request about many tasks names more of them. */
const MOST = 200
/** So many outcomes are listed; the heading counts all. */
const LISTED = 200
/** The states in which a task can be asked for it, and what says that one is in another. */
const FITS = { cancel: ['idle', 'reasoning', 'acting', 'suspended', 'accepted'], suspend: ['reasoning', 'acting'], resume: ['suspended'] }
const OTHERS = ['task_ended', 'not_suspendable', 'not_resumable', 'missing_input', 'answer_open', 'approval_open']
const ENDS = ['TASK_COMPLETED', 'TASK_FAILED', 'TASK_CANCELLED']
const ENDED = ['completed', 'failed', 'cancelled']
/** The query side may be behind the journal; a task that has ended there is asked for again, but not for ever. */
const TRIES = 20
const WATCHED = 'TASK_CREATED,TASK_STATE_CHANGED,TASK_COMPLETED,TASK_FAILED,TASK_CANCELLED,APPROVAL_REQUESTED,APPROVAL_DECIDED,TASKS_FORGOTTEN'
const AGES = { '1h': 3_600_000, '24h': 86_400_000, '7d': 7 * 86_400_000 }

class Tasks extends Screen {
  static properties = { rows: { state: true }, next: { state: true }, fresh: { state: true }, counts: { state: true }, selected: { state: true }, bulk: { state: true }, lost: { state: true } }

  #live = null
  /** What is to be asked for anew: whether it has ended, and how often it was asked for. */
  #stale = new Map()
  #timer = 0
  #shown = ''
  #typing = 0
  /** Loads older tasks once the end of the list comes near, so that scrolling goes on; the button is for keys. */
  #nearEnd = new IntersectionObserver(found => found.some(one => one.isIntersecting) && !this.loading && !this.problem && this.next && this.load(this.next), { rootMargin: '0px 0px 600px' })

  constructor() {
    super()
    this.rows = []
    this.next = null
    this.fresh = new Set()
    this.counts = {}
    this.selected = new Set()
    this.bulk = null
    this.lost = false
  }

  connectedCallback() {
    super.connectedCallback()
    this.#live = new Live(path('/v1/stream', { types: WATCHED, namespace: namespace() }), {
      event: (type, event) => this.hear(type, event),
      state: state => { this.lost = state === 'lost' },
    })
  }

  disconnectedCallback() {
    super.disconnectedCallback()
    this.#live?.close()
    this.#nearEnd.disconnect()
    clearTimeout(this.#timer)
    clearTimeout(this.#typing)
  }

  willUpdate(changes) {
    if (changes.has('query')) {
      const wanted = JSON.stringify(this.filters)
      if (wanted !== this.#shown) {
        this.#shown = wanted
        this.load()
      }
    }
  }

  updated() {
    const more = this.querySelector('button.more')
    // observed anew, since one that stays in sight is told of only once
    this.#nearEnd.disconnect()
    if (more && !this.loading) this.#nearEnd.observe(more)
  }

  get filters() {
    const filters = Object.fromEntries(FILTERS.map(name => [name, this.query.get(name)]).filter(([, value]) => value))
    if (AGES[filters.createdAfter]) filters.createdAfter = new Date(Math.floor((Date.now() - AGES[filters.createdAfter]) / 60_000) * 60_000).toISOString()
    return filters
  }

  url(more = {}) {
    return scoped('/v1/tasks', { ...this.filters, limit: PAGE, ...more })
  }

  async load(cursor) {
    this.loading = true
    await this.attempt(async () => {
      const page = await get(this.url({ cursor }), this.signal)
      this.rows = cursor ? [...this.rows, ...page.tasks.filter(task => !this.rows.some(row => row.taskId === task.taskId))] : page.tasks
      this.next = page.next
      if (!cursor) {
        this.fresh = new Set()
        this.selected = new Set()
      }
    })
    this.loading = false
    this.tally()
  }

  async tally() {
    const { state, ...others } = this.filters
    try {
      this.counts = (await get(scoped('/v1/task-counts', others), this.signal)).states
    } catch {
      this.counts = {}
    }
  }

  hear(type, event) {
    if (!event.taskId || (event.namespace ?? 'default') !== namespace()) return
    const shown = this.rows.some(row => row.taskId === event.taskId)
    // a page that is on its way may have it as it was before
    if (shown || this.loading) this.#stale.set(event.taskId, { ended: ENDS.includes(type) || this.#stale.get(event.taskId)?.ended, tries: 0 })
    if (!shown && type === 'TASK_CREATED') this.fresh = new Set([...this.fresh, event.taskId])
    this.#timer ||= setTimeout(() => this.refresh(), 400)
  }

  /** Rows that are shown, as they are now, where they are now. */
  async refresh() {
    this.#timer = 0
    if (this.loading) {
      this.#timer = setTimeout(() => this.refresh(), 400)
      return
    }
    const wanted = new Map([...this.#stale].slice(0, 20))
    const ids = [...wanted.keys()]
    ids.forEach(taskId => this.#stale.delete(taskId))
    const now = await Promise.all(ids.map(taskId => get(scoped(`/v1/tasks/${encodeURIComponent(taskId)}`), this.signal).catch(() => null)))
    const byId = new Map(now.filter(Boolean).map(task => [task.taskId, task]))
    for (const [taskId, { ended, tries }] of wanted) {
      const task = byId.get(taskId)
      if (ended && task && !ENDED.includes(task.state) && tries < TRIES && !this.#stale.has(taskId)) this.#stale.set(taskId, { ended, tries: tries + 1 })
    }
    if (byId.size) this.rows = this.rows.map(row => byId.get(row.taskId) ?? row)
    if (this.#stale.size) this.#timer ||= setTimeout(() => this.refresh(), 400)
    this.tally()
  }

  select(taskId, on) {
    const selected = new Set(this.selected)
    if (on) selected.add(taskId)
    else selected.delete(taskId)
    this.selected = selected
  }

  /** Asks it of all that are chosen, or that the filters let through, a page at a time; says what each page said. */
  async bulkly(action, everything, dryRun, told) {
    const ask = async body => (await call('POST', scoped('/v1/tasks/bulk'), { body: { action, dryRun, ...body }, signal: this.signal })).json
    if (everything === true) {
      const filter = this.filters
      let cursor
      do {
        const page = await ask({ filter, cursor })
        told(page)
        cursor = page.next
      } while (cursor && !dryRun)
      return
    }
    const ids = everything === false ? [...this.selected] : everything
    for (let at = 0; at < ids.length; at += MOST) told(await ask({ ids: ids.slice(at, at + MOST) }))
  }

  async act(action, everything) {
    const preview = { states: {}, items: [], complete: true, more: false }
    await this.attempt(() => this.bulkly(action, everything, true, page => {
      for (const [state, number] of Object.entries(page.matched.states)) preview.states[state] = (preview.states[state] ?? 0) + number
      preview.items.push(...page.items)
      preview.complete &&= page.matched.complete
      preview.more ||= page.next != null
    }))
    if (this.problem) return
    const possible = preview.items.filter(item => item.status === 'possible')
    const all = Object.values(preview.states).reduce((sum, number) => sum + number, 0)
    // beyond the first page only the state is known, which for resume does not say all
    const fitting = preview.more ? FITS[action].reduce((sum, state) => sum + (preview.states[state] ?? 0), 0) : possible.length
    if (!fitting) {
      this.problem = { code: 'nothing to do', message: `None of these ${all} tasks can be asked to ${action}: of those that have ended, or wait for something else, nothing is asked.` }
      return
    }
    const said = new Map(this.rows.map(row => [row.taskId, row.inputText]))
    const number = `${preview.complete ? '' : 'more than '}${count(fitting)}`
    if (!await confirmed(html`<strong>${action[0].toUpperCase() + action.slice(1)} ${number} ${fitting === 1 ? 'task' : 'tasks'}?</strong>
      ${all > fitting ? html` ${count(all - fitting)} more that this does not fit are left alone.` : nothing}
      ${action === 'cancel' ? html` A cancelled task stays ended.` : nothing}
      <ul class="preview">${possible.slice(0, 5).map(item => html`<li>${stateMark(item.state)} ${plain(line(said.get(item.taskId) ?? item.taskId, 60))}</li>`)}${fitting > 5 ? html`<li>and ${count(fitting - 5)} more${preview.complete ? '' : ', at least'}</li>` : nothing}</ul>`)) return
    const results = []
    this.bulk = { action, results, done: false }
    await this.attempt(() => this.bulkly(action, everything, false, page => {
      for (const item of page.items) {
        // what this does not fit was said before
        if (item.status === 'refused' && OTHERS.includes(item.code)) continue
        results.push({ taskId: item.taskId, text: said.get(item.taskId) ?? '', outcome: item.status === 'accepted' ? 'asked' : 'refused', detail: item.code ? `${item.code} ${item.detail}` : '' })
      }
      this.requestUpdate()
    }))
    // a request that was taken is not yet done: what the journal says counts
    for (let tries = 0; tries < 20 && results.some(one => one.outcome === 'asked'); tries++) {
      await new Promise(resolve => setTimeout(resolve, 300))
      const open = new Map(results.filter(one => one.outcome === 'asked').map(one => [one.taskId, one]))
      await this.bulkly(action, [...open.keys()], true, page => {
        for (const item of page.items) {
          const one = open.get(item.taskId)
          if ((action === 'cancel' && item.state === 'cancelled') || (action === 'suspend' && item.state === 'suspended') || (action === 'resume' && item.status === 'refused')) one.outcome = item.state
          else if (ENDED.includes(item.state)) Object.assign(one, { outcome: 'too late', detail: `it had ${item.state} by then` })
        }
      }).catch(() => null)
      this.requestUpdate()
    }
    this.bulk = { ...this.bulk, done: true }
    say(`${action}: ${results.filter(one => one.outcome !== 'refused').length} of ${results.length} taken`)
    const failed = this.problem
    await this.load()
    this.problem ??= failed
  }

  type(name, event) {
    const value = event.target.value.trim()
    clearTimeout(this.#typing)
    this.#typing = setTimeout(() => this.filter({ [name]: value }), 250)
  }

  render() {
    const filters = this.filters
    const filtered = Object.keys(filters).length
    const chosen = this.selected.size
    return html`
      <div class="head"><h1>Tasks</h1>
        ${this.fresh.size ? html`<button type="button" class="pill" @click=${() => this.load()}>${this.fresh.size} new</button>` : nothing}
        ${this.lost ? html`<span class="faint" role="status">not live now, trying again</span>` : nothing}</div>
      <div class="chips" role="group" aria-label="State">
        <button type="button" aria-pressed=${!filters.state} @click=${() => this.filter({ state: null })}>all</button>
        ${STATES.map(state => html`<button type="button" aria-pressed=${filters.state === state} @click=${() => this.filter({ state: filters.state === state ? null : state })}>
          ${stateMark(state)}${this.counts[state] == null ? nothing : html` <span class="tally">${count(this.counts[state])}</span>`}</button>`)}
      </div>
      <div class="filters">
        <label><span>Text</span><input type="search" .value=${this.query.get('text') ?? ''} @input=${event => this.type('text', event)}></label>
        <label><span>Agent</span><input type="text" .value=${this.query.get('agent') ?? ''} @input=${event => this.type('agent', event)}></label>
        <label><span>Waits for</span><select @change=${event => this.filter({ waitingFor: event.target.value })}>
          <option value="">anything</option>${WAITS.map(wait => html`<option value=${wait} ?selected=${filters.waitingFor === wait}>${wait}</option>`)}</select></label>
        <label><span>Error code</span><input type="text" .value=${this.query.get('errorCode') ?? ''} @input=${event => this.type('errorCode', event)}></label>
        <label><span>Session</span><input type="text" .value=${this.query.get('sessionId') ?? ''} @input=${event => this.type('sessionId', event)}></label>
        <label><span>Begun</span><select @change=${event => this.filter({ createdAfter: event.target.value })}>
          <option value="">at any time</option>${Object.keys(AGES).map(age => html`<option value=${age} ?selected=${this.query.get('createdAfter') === age}>in the last ${age}</option>`)}</select></label>
        <label><span>Begun before</span><input type="date" .value=${this.query.get('createdBefore') ?? ''} @change=${event => this.filter({ createdBefore: event.target.value })}></label>
        ${filtered ? html`<button type="button" class="quiet" @click=${() => this.filter(Object.fromEntries(FILTERS.map(name => [name, null])))}>clear</button>` : nothing}
      </div>
      ${problem(this.problem)}
      <div class="bulk" role="group" aria-label="For several tasks">
        <span>${chosen ? `${chosen} chosen:` : filtered ? 'All that match:' : 'All tasks:'}</span>
        ${['cancel', 'suspend', 'resume'].map(action => html`<button type="button" class=${action === 'cancel' ? 'danger' : ''} ?disabled=${!this.rows.length || (this.bulk && !this.bulk.done)} @click=${() => this.act(action, !chosen)}>${action[0].toUpperCase() + action.slice(1)}…</button>`)}
      </div>
      ${this.bulk ? this.outcome() : nothing}
      ${this.rows.length ? this.table() : this.loading ? html`<p class="faint">Loading…</p>` : filtered
        ? empty('No task matches these filters.')
        : empty('There are no tasks yet. Begin one in the chat, or from a shell:', './millrace ask "Which files are in the workspace?"')}
      ${this.next ? html`<button type="button" class="more" @click=${() => this.load(this.next)}>Older tasks</button>` : nothing}
      ${asCurl('GET', this.url())}${asCurl('POST', scoped('/v1/tasks/bulk'), { action: 'cancel', filter: this.filters, dryRun: true })}`
  }

  outcome() {
    const { action, results, done } = this.bulk
    const tally = Object.entries(Object.groupBy(results, one => one.outcome)).map(([name, ones]) => `${ones.length} ${name}`).join(', ')
    return html`<section class="outcome" aria-label="What became of it"><div class="head"><h2>${action}: ${tally}</h2>
      ${done ? html`<button type="button" class="quiet" @click=${() => { this.bulk = null }}>close</button>` : nothing}</div>
      <ul>${results.slice(0, LISTED).map(one => html`<li>${taskLink(one.taskId)} ${plain(line(one.text, 60))}: <strong>${one.outcome}</strong> ${plain(one.detail)}</li>`)}${results.length > LISTED ? html`<li class="faint">and ${count(results.length - LISTED)} more, counted above</li>` : nothing}</ul></section>`
  }

  table() {
    const all = this.rows.every(row => this.selected.has(row.taskId))
    return html`<div class="scroll"><table class="list tasks">
      <thead><tr><th scope="col"><input type="checkbox" aria-label="All tasks of this page" .checked=${all} @change=${event => { this.selected = event.target.checked ? new Set(this.rows.map(row => row.taskId)) : new Set() }}></th>
        <th scope="col">State</th><th scope="col">Task</th><th scope="col">Agent</th><th scope="col">Waits for</th><th scope="col">Begun</th><th scope="col" class="num">Tokens</th><th scope="col" class="num">Cost</th></tr></thead>
      <tbody>${repeat(this.rows, row => row.taskId, row => this.row(row))}</tbody></table></div>`
  }

  row(task) {
    const waits = task.waitingFor
    return html`<tr class="row">
      <td><input type="checkbox" aria-label="Task ${plain(line(task.inputText, 40))}" .checked=${this.selected.has(task.taskId)} @change=${event => this.select(task.taskId, event.target.checked)}></td>
      <td>${stateMark(task.state)}</td>
      <td class="wide"><a class="main" href=${at(`/tasks/${encodeURIComponent(task.taskId)}`)}>${plain(line(task.inputText, 110)) || '(no text)'}</a>
        ${task.error ? html`<div class="error">${plain(line(`${task.errorCode ?? ''} ${task.error}`, 140))}</div>` : nothing}
        ${task.note ? html`<div class="faint">${plain(line(task.note, 140))}</div>` : nothing}
        ${task.sessionId ? html`<div class="faint">in ${sessionLink(task.sessionId)}</div>` : nothing}</td>
      <td>${plain(task.agent ?? task.taskType)}</td>
      <td>${waits ? html`${waits.kind} <span class="faint">for ${coarse(Math.max(0, this.now - waits.since))}${waits.until ? html`, ends ${moment(Date.parse(waits.until), this.now)}` : nothing}</span>` : nothing}</td>
      <td>${moment(task.createdAt, this.now)}</td>
      <td class="num">${count((task.usage?.inputTokens ?? 0) + (task.usage?.outputTokens ?? 0))}</td>
      <td class="num">${task.budget ? cost(task.budget.costMicros) : ''}</td></tr>`
  }
}
customElements.define('mill-tasks', Tasks)

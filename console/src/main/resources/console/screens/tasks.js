// The tasks: filters are the address; what changes is changed in place, and what is new waits for a click.
import { html, nothing } from 'lit'
import { repeat } from 'lit/directives/repeat.js'
import { call, get, namespace, path, scoped, Live } from '../api.js'
import { coarse, cost, count, line, plain } from '../format.js'
import { Screen, asCurl, at, confirmed, empty, moment, problem, say, sessionLink, stateMark, taskLink } from '../ui.js'

const STATES = ['idle', 'reasoning', 'acting', 'suspended', 'completed', 'failed', 'cancelled']
const WAITS = ['admission', 'model', 'tools', 'answer', 'approval', 'resume', 'children']
const FILTERS = ['state', 'waitingFor', 'agent', 'errorCode', 'text', 'sessionId', 'parentTaskId', 'createdAfter']
const PAGE = 50
/** Bulk actions ask for each task; no more of them are asked for at once. */
const MOST = 1000
const AT_ONCE = 4
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

  /** Everything that the filters let through, as far as it is asked for at once. */
  async all() {
    const found = []
    let cursor
    do {
      const page = await get(scoped('/v1/tasks', { ...this.filters, limit: 200, cursor }), this.signal)
      found.push(...page.tasks)
      cursor = page.next
    } while (cursor && found.length < MOST)
    return found.slice(0, MOST)
  }

  async act(action, everything) {
    const fits = {
      cancel: task => !['completed', 'failed', 'cancelled'].includes(task.state),
      suspend: task => ['idle', 'reasoning', 'acting', 'accepted'].includes(task.state),
      resume: task => task.state === 'suspended' && task.waitingFor?.kind === 'resume',
    }[action]
    const chosen = await this.attempt(async () => (everything ? await this.all() : this.rows.filter(row => this.selected.has(row.taskId))))
    if (!chosen) return
    const tasks = chosen.filter(fits)
    const left = chosen.length - tasks.length
    if (!tasks.length) {
      this.problem = { code: 'nothing to do', message: `None of these ${chosen.length} tasks can be asked to ${action}: of those that have ended, or wait for something else, nothing is asked.` }
      return
    }
    const examples = tasks.slice(0, 5)
    if (!await confirmed(html`<strong>${action === 'cancel' ? 'Cancel' : action === 'suspend' ? 'Suspend' : 'Resume'} ${count(tasks.length)} ${tasks.length === 1 ? 'task' : 'tasks'}?</strong>
      ${left ? html` ${count(left)} more that this does not fit are left alone.` : nothing}
      ${action === 'cancel' ? html` A cancelled task stays ended.` : nothing}
      <ul class="preview">${examples.map(task => html`<li>${stateMark(task.state)} ${plain(line(task.inputText, 60))}</li>`)}${tasks.length > 5 ? html`<li>and ${count(tasks.length - 5)} more</li>` : nothing}</ul>`)) return
    const results = tasks.map(task => ({ task, outcome: '', detail: '' }))
    this.bulk = { action, results, done: false }
    const waiting = [...results]
    const work = async () => {
      for (let one = waiting.shift(); one; one = waiting.shift()) {
        try {
          await call('POST', scoped(`/v1/tasks/${encodeURIComponent(one.task.taskId)}/${action}`), { body: {} })
          one.outcome = 'asked'
        } catch (e) {
          one.outcome = 'refused'
          one.detail = `${e.code} ${e.message}`
        }
        this.requestUpdate()
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    // a request that was taken is not yet done: what the journal says counts
    for (let tries = 0; tries < 20 && results.some(one => one.outcome === 'asked'); tries++) {
      await new Promise(resolve => setTimeout(resolve, 300))
      for (const one of results.filter(result => result.outcome === 'asked').slice(0, 40)) {
        const now = await get(scoped(`/v1/tasks/${encodeURIComponent(one.task.taskId)}`)).catch(() => null)
        if (now && ((action === 'cancel' && now.state === 'cancelled') || (action === 'suspend' && now.state === 'suspended') || (action === 'resume' && now.waitingFor?.kind !== 'resume'))) {
          one.outcome = now.state
        } else if (now && ['completed', 'failed'].includes(now.state)) {
          one.outcome = 'too late'
          one.detail = `it had ${now.state} by then`
        }
      }
      this.requestUpdate()
    }
    this.bulk = { ...this.bulk, done: true }
    say(`${action}: ${results.filter(one => one.outcome !== 'refused').length} of ${results.length} taken`)
    this.load()
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
        ${filtered ? html`<button type="button" class="quiet" @click=${() => this.filter(Object.fromEntries(FILTERS.map(name => [name, null])))}>clear</button>` : nothing}
      </div>
      ${problem(this.problem)}
      <div class="bulk" role="group" aria-label="For several tasks">
        <span>${chosen ? `${chosen} chosen:` : filtered ? 'All that match:' : 'All tasks:'}</span>
        ${['cancel', 'suspend', 'resume'].map(action => html`<button type="button" class=${action === 'cancel' ? 'danger' : ''} ?disabled=${!this.rows.length} @click=${() => this.act(action, !chosen)}>${action[0].toUpperCase() + action.slice(1)}…</button>`)}
      </div>
      ${this.bulk ? this.outcome() : nothing}
      ${this.rows.length ? this.table() : this.loading ? html`<p class="faint">Loading…</p>` : filtered
        ? empty('No task matches these filters.')
        : empty('There are no tasks yet. Begin one in the chat, or from a shell:', './millrace ask "Which files are in the workspace?"')}
      ${this.next ? html`<button type="button" class="more" @click=${() => this.load(this.next)}>Older tasks</button>` : nothing}
      ${asCurl('GET', this.url())}`
  }

  outcome() {
    const { action, results, done } = this.bulk
    const tally = Object.entries(Object.groupBy(results, one => one.outcome || 'to be asked')).map(([name, ones]) => `${ones.length} ${name}`).join(', ')
    return html`<section class="outcome" aria-label="What became of it"><div class="head"><h2>${action}: ${tally}</h2>
      ${done ? html`<button type="button" class="quiet" @click=${() => { this.bulk = null }}>close</button>` : nothing}</div>
      <ul>${results.slice(0, 200).map(one => html`<li>${taskLink(one.task.taskId)} ${plain(line(one.task.inputText, 60))}: <strong>${one.outcome || '…'}</strong> ${plain(one.detail)}</li>`)}</ul></section>`
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

// The installation: what waits in the lanes, who works on the tools' calls, and whether tasks are admitted.
import { html, nothing, svg } from 'lit'
import { call, get, namespace, path, Live } from '../api.js'
import { coarse, count, line, plain } from '../format.js'
import { Screen, asCurl, at, confirmed, empty, eventLink, moment, problem, say, taskLink } from '../ui.js'

const EVERY = 2000
const KEPT = 60
/** So many events of the tail are shown, and no more are kept. */
const TAIL = 100
const MEANING = { system: 'start, stop, cancel', external: 'what people and other systems send', task: 'what happens to tasks', cognitive: 'what models answer', tool: 'what tools answer', background: 'work that may wait' }

class System extends Screen {
  static properties = { state: { state: true }, counts: { state: true }, rates: { state: true }, asked: { state: true }, tail: { state: true }, held: { state: true }, lost: { state: true } }

  #timer = 0
  #last = null
  #live = null
  #followed = null

  constructor() {
    super()
    this.state = null
    this.counts = null
    this.rates = new Map()
    this.asked = ''
    this.tail = []
    // null = what happens is shown; else what has happened since the reader stopped it
    this.held = null
    this.lost = false
  }

  willUpdate(changes) {
    if (changes.has('query') && this.isConnected) this.followTypes()
  }

  get types() {
    return (this.query.get('types') ?? '').trim()
  }

  /** What happens from now on, of the types that the address names. */
  followTypes() {
    const url = path('/v1/stream', { types: this.types, namespace: namespace() })
    if (url === this.#followed) return
    this.#followed = url
    this.#live?.close()
    this.tail = []
    this.held = this.held === null ? null : []
    this.#live = new Live(url, {
      event: (type, event) => {
        if (this.held === null) this.tail = [event, ...this.tail].slice(0, TAIL)
        else this.held = [event, ...this.held].slice(0, TAIL)
      },
      state: state => { this.lost = state === 'lost' },
    })
  }

  goOn() {
    this.tail = [...this.held, ...this.tail].slice(0, TAIL)
    this.held = null
  }

  connectedCallback() {
    super.connectedCallback()
    this.look()
    this.followTypes()
    this.#timer = setInterval(() => document.hidden || this.look(), EVERY)
  }

  disconnectedCallback() {
    super.disconnectedCallback()
    this.#live?.close()
    this.#followed = null
    clearInterval(this.#timer)
  }

  async look() {
    await this.attempt(async () => {
      const [state, counts] = await Promise.all([get('/v1/system', this.signal), get('/v1/task-counts', this.signal)])
      const now = performance.now()
      if (this.#last) {
        const seconds = (now - this.#last.now) / 1000
        const rates = new Map()
        for (const lane of state.lanes) {
          const before = this.#last.state.lanes.find(one => one.topic === lane.topic)
          const rate = before ? Math.max(0, lane.end - before.end) / seconds : 0
          rates.set(lane.topic, [...(this.rates.get(lane.topic) ?? []), rate].slice(-KEPT))
        }
        this.rates = rates
      }
      this.#last = { now, state }
      if (this.asked && state.draining === (this.asked === 'drain')) this.asked = ''
      this.state = state
      this.counts = counts
    })
  }

  async drain() {
    if (!await confirmed(html`<strong>Admit no more tasks?</strong> Those that run go on; new ones are taken and wait, on all instances, also after restarts, until tasks are admitted again.`)) return
    const reason = this.querySelector('#drain-reason').value.trim()
    await this.attempt(() => call('POST', '/v1/system/drain', { body: reason ? { reason } : {} }))
    if (!this.problem) this.said('drain', 'Asked to admit no more tasks')
  }

  async resume() {
    await this.attempt(() => call('POST', '/v1/system/resume', { body: {} }))
    if (!this.problem) this.said('resume', 'Asked to admit tasks again')
  }

  said(asked, words) {
    this.asked = asked
    say(words)
  }

  /** What came in the last two minutes, each bar two seconds. */
  graph(lane) {
    const rates = this.rates.get(lane.topic) ?? []
    const most = Math.max(1, ...rates)
    return html`<svg class="spark" viewBox="0 0 ${KEPT * 4} 24" width=${KEPT * 4} height="24" role="img" aria-label="At most ${count(Math.round(Math.max(0, ...rates)))} in a second">${rates.map((rate, i) => svg`<rect x=${(KEPT - rates.length + i) * 4} y=${24 - rate / most * 24} width="3" height=${rate / most * 24}></rect>`)}</svg>`
  }

  admission() {
    const draining = this.state.draining
    return html`<section class="card"><h2>Admission</h2>
      <p>${draining === null ? 'The instance that answers has no part of the lanes, so it does not know.' : draining ? html`<strong class="state suspended">No task is admitted.</strong> New ones wait.${this.state.drain ? html` Asked for ${moment(this.state.drain.since, this.now)}${this.state.drain.by ? html` by ${plain(this.state.drain.by)}` : nothing}${this.state.drain.reason ? html`: <q>${plain(this.state.drain.reason)}</q>` : nothing}` : nothing}` : html`<strong class="state completed">Tasks are admitted.</strong>`}</p>
      ${draining
        ? html`<div class="actions"><button type="button" class="primary" @click=${() => this.resume()}>Admit tasks again</button></div>${asCurl('POST', '/v1/system/resume')}`
        : html`<label class="stack"><span>Reason, for the record</span><input id="drain-reason" type="text" maxlength="2000"></label>
          <div class="actions"><button type="button" class="danger" @click=${() => this.drain()}>Admit no more…</button></div>${asCurl('POST', '/v1/system/drain', { reason: 'an upgrade' })}`}
      ${this.asked ? html`<p class="faint" role="status">Asked; it has not happened yet.</p>` : nothing}</section>`
  }

  happening() {
    return html`<section aria-label="What happens now"><div class="head"><h2>What happens now</h2>
        ${this.lost ? html`<span class="faint" role="status">not live now, trying again</span>` : nothing}</div>
      <div class="filters"><label><span>Types, with commas</span><input type="search" placeholder="all" .value=${this.types} @change=${event => this.filter({ types: event.target.value.trim() })}></label>
        ${this.held === null
          ? html`<button type="button" @click=${() => { this.held = [] }}>Pause</button>`
          : html`<button type="button" class="primary" @click=${() => this.goOn()}>Go on${this.held.length ? `, ${this.held.length === TAIL ? `${TAIL} or more` : this.held.length} since` : ''}</button>`}</div>
      ${this.tail.length ? html`<div class="scroll"><table class="list tail"><thead><tr><th scope="col">When</th><th scope="col">Type</th><th scope="col">Task</th><th scope="col">Event</th></tr></thead>
        <tbody>${this.tail.map(event => html`<tr><td>${moment(event.timestamp, this.now)}</td><td class="type">${plain(line(event.type, 60))}</td><td>${event.taskId ? taskLink(event.taskId) : ''}</td><td>${eventLink(event.id)}</td></tr>`)}</tbody></table></div>`
        : html`<p class="faint">Nothing since this page was opened.</p>`}
      ${asCurl('GET', path('/v1/stream', { types: this.types, namespace: namespace() }))}</section>`
  }

  render() {
    const state = this.state
    return html`<div class="head"><h1>System</h1>${state ? html`<span class="faint">version ${plain(state.version)} · answered by ${plain(state.instance)}</span>` : nothing}</div>
      ${problem(this.problem)}
      ${state ? html`
        <div class="cards loose">${this.admission()}
          <section class="card"><h2>Tasks</h2><dl class="facts">${Object.entries(this.counts?.states ?? {}).map(([name, number]) => html`<dt>${name}</dt><dd><a href=${at('/tasks', { state: name })}>${count(number)}</a></dd>`)}</dl></section>
          ${state.models ? html`<section class="card"><h2>Model calls</h2><dl class="facts"><dt>Running</dt><dd>${count(state.models.running)} of ${count(state.models.permits)}</dd><dt>Queued</dt><dd>${count(state.models.queued)}${state.models.heldBack ? html` <span class="faint">${count(state.models.heldBack)} of them wait for their provider</span>` : nothing}</dd></dl>
            <p class="faint">of the instance that answers</p></section>` : nothing}</div>
        <h2>Services</h2>
        <div class="scroll"><table class="list"><thead><tr><th scope="col">Service</th><th scope="col">Ready</th><th scope="col">Instance</th><th scope="col">Version</th><th scope="col">Since</th></tr></thead>
          <tbody>${state.services.map(one => html`<tr class="row"><td><strong>${plain(one.name)}</strong></td><td>${one.ready ? html`<span class="state completed">✓ ready</span>` : html`<span class="error">✕ not ready</span><ul class="plain">${one.reasons.map(reason => html`<li>${plain(reason)}</li>`)}</ul>`}</td><td class="id">${plain(one.instance ?? '')}</td><td>${plain(one.version ?? '')}</td><td>${moment(one.since, this.now)}</td></tr>`)}</tbody></table></div>
        <p class="faint">Those that answer: this gateway, and the agent service that it asks. Who serves tools stands below.</p>
        <h2>Lanes</h2>
        <div class="scroll"><table class="list"><thead><tr><th scope="col">Lane</th><th scope="col" class="num">In, a second</th><th scope="col">The last two minutes</th><th scope="col" class="num">Waits</th><th scope="col" class="num">The oldest</th><th scope="col" class="num">Partitions</th></tr></thead>
          <tbody>${state.lanes.map(lane => html`<tr class="row"><td><strong>${plain(lane.segment)}</strong> <span class="faint">${MEANING[lane.segment] ?? ''}</span><div class="id">${plain(lane.topic)}</div></td>
            <td class="num">${this.rates.has(lane.topic) ? count(Math.round(this.rates.get(lane.topic).at(-1))) : '…'}</td><td>${this.graph(lane)}</td><td class="num">${count(lane.backlog)}</td><td class="num">${lane.oldestMs == null ? '' : lane.oldestMs < 1000 ? 'now' : coarse(lane.oldestMs)}</td><td class="num">${lane.partitions}</td></tr>`)}</tbody></table></div>
        <h2>Toolsets</h2>
        ${state.toolsets.length ? html`<div class="scroll"><table class="list"><thead><tr><th scope="col">Toolset</th><th scope="col" class="num">Workers</th><th scope="col" class="num">Calls that wait</th></tr></thead>
          <tbody>${state.toolsets.map(toolset => html`<tr class="row"><td>${plain(toolset.toolset)}</td><td class="num">${toolset.workers === 0 ? html`<span class="error">nobody</span>` : toolset.workers == null ? html`<span class="faint">not known yet</span>` : count(toolset.workers)}</td><td class="num">${toolset.backlog == null ? html`<span class="faint">not known yet</span>` : count(toolset.backlog)}</td></tr>`)}</tbody></table></div>`
          : empty('No tool is served now.')}` : this.problem ? nothing : html`<p class="faint">Loading…</p>`}
      ${asCurl('GET', '/v1/system')}
      ${this.happening()}`
  }
}
customElements.define('mill-system', System)

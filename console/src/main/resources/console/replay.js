// A task, played again from its log: one step at a time.
import { html, nothing, LitElement } from 'lit'
import { get, scoped } from './api.js'
import { cost, count, exact, plain } from './format.js'
import { asCurl, eventLink, problem, say, stateMark } from './ui.js'

const HAPPENED = { admission: 'Its turn has come', time: 'Time has passed' }
const OUTCOMES = { same: 'as in the log', differs: 'differs from the log', not_recorded: 'not in the log', not_decided: 'in the log, and not decided today' }

class Replay extends LitElement {
  static properties = { taskId: { attribute: false }, length: { attribute: false }, replay: { state: true }, steps: { state: true }, at: { state: true }, error: { state: true }, loading: { state: true } }

  constructor() {
    super()
    this.replay = null
    this.steps = []
    this.at = 0
    this.error = null
    this.loading = false
  }

  createRenderRoot() {
    return this
  }

  willUpdate(changes) {
    if (changes.has('taskId')) this.load()
  }

  async load() {
    this.loading = true
    this.error = null
    try {
      const steps = []
      let after
      do {
        this.replay = await get(scoped(this.url(), { after, limit: 1000 }))
        steps.push(...this.replay.steps)
        after = this.replay.next
      } while (after)
      this.steps = steps
      this.at = Math.min(this.at, Math.max(0, steps.length - 1))
    } catch (e) {
      this.error = e
    }
    this.loading = false
  }

  url() {
    return `/v1/tasks/${encodeURIComponent(this.taskId)}/replay`
  }

  move(to) {
    this.at = Math.max(0, Math.min(this.steps.length - 1, to))
    const step = this.steps[this.at]
    say(`Step ${step.number} of ${this.steps.length}: ${this.what(step)}, ${step.toState}`)
  }

  what(step) {
    return HAPPENED[step.cause.kind] ?? step.cause.eventType
  }

  press(event) {
    const to = { ArrowRight: this.at + 1, ArrowLeft: this.at - 1, Home: 0, End: this.steps.length - 1 }[event.key]
    if (to === undefined || event.target instanceof HTMLInputElement) return
    event.preventDefault()
    this.move(to)
  }

  render() {
    const step = this.steps[this.at]
    if (!step) return html`${problem(this.error)}${this.loading ? html`<p class="faint">Loading…</p>` : nothing}`
    const differing = this.steps.filter(one => !one.equal)
    return html`<section class="replay" aria-label="Replay" @keydown=${this.press}>
      ${problem(this.error)}
      <p class="verdict ${this.replay.equal ? 'good' : 'bad'}">${this.replay.equal
        ? html`✓ Played again from ${count(this.replay.events)} events without calling anything: the machine decides today what the log says.`
        : html`✕ In ${count(differing.length)} of ${count(this.steps.length)} steps the machine decides today what the log does not say: ${differing.slice(0, 10).map(one => html`<button type="button" class="quiet" @click=${() => this.move(one.number - 1)}>step ${one.number}</button> `)}`}
        ${this.replay.events < this.length ? html`<button type="button" class="quiet" @click=${() => this.load()}>there are newer events</button>` : nothing}</p>
      <div class="stepper">
        <button type="button" ?disabled=${this.at === 0} @click=${() => this.move(this.at - 1)} aria-label="Step before">◀</button>
        <input type="range" min="1" max=${this.steps.length} .value=${String(this.at + 1)} aria-label="Step" aria-valuetext="Step ${step.number}: ${this.what(step)}" @input=${event => this.move(Number(event.target.value) - 1)}>
        <button type="button" ?disabled=${this.at === this.steps.length - 1} @click=${() => this.move(this.at + 1)} aria-label="Next step">▶</button>
        <span class="num">${step.number} of ${this.steps.length}</span></div>
      <h2>${plain(this.what(step))} <span class="faint">${exact(step.timestamp)}${step.cause.kind === 'noted' ? ', noted; it changes nothing' : ''}</span></h2>
      <p>${stateMark(step.fromState)} → ${stateMark(step.toState)}${step.waitingFor ? html` <span class="faint">waits for ${plain(step.waitingFor.kind)}</span>` : nothing}${step.cause.cursor ? html` · ${eventLink(step.cause.eventId, 'the event')}` : html` · follows ${eventLink(step.cause.eventId, 'this event')}`}</p>
      <h3>Decided</h3>
      ${step.decided.length ? html`<ul class="plain">${step.decided.map(one => html`<li><span class="type">${plain(one.eventType)}</span> <span class=${one.outcome === 'same' ? 'faint' : 'error'}>${OUTCOMES[one.outcome]}</span>
        ${one.differences ? html`<table class="list"><thead><tr><th scope="col">Field</th><th scope="col">In the log</th><th scope="col">Today</th></tr></thead><tbody>${Object.entries(one.differences).map(([field, both]) => html`<tr><th scope="row">${plain(field)}</th><td>${plain(JSON.stringify(both.recorded))}</td><td>${plain(JSON.stringify(both.decided))}</td></tr>`)}</tbody></table>` : nothing}</li>`)}</ul>` : html`<p class="faint">Nothing.</p>`}
      ${step.said.length ? html`<h3>Said</h3>${step.said.map(one => html`<div class="said"><span class="faint">${plain(one.role)}</span><pre tabindex="0">${plain(one.text)}</pre></div>`)}` : nothing}
      ${step.budget ? html`<p class="faint">By then: ${count(step.budget.iterations ?? 0)} model calls${step.budget.maxIterations ? ` of ${count(step.budget.maxIterations)}` : ''}, ${count((step.budget.inputTokens ?? 0) + (step.budget.outputTokens ?? 0))} tokens, ${cost(step.budget.costMicros)}</p>` : nothing}
      ${asCurl('GET', scoped(this.url()))}</section>`
  }
}
customElements.define('mill-replay', Replay)

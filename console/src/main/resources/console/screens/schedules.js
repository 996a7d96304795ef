// What starts by the clock: when, what is said, and in which conversation.
import { html, nothing } from 'lit'
import { call, get, scoped } from '../api.js'
import { exact, line, plain } from '../format.js'
import { Screen, asCurl, confirmed, empty, moment, problem, raw, say, sessionLink, taskLink } from '../ui.js'

const EMPTY = { name: '', cron: '', at: '', zone: '', text: '', taskType: '', sessionId: '', missed: 'one', overlap: 'allow' }
const NAME = /^[A-Za-z0-9._-]{1,64}$/

class Schedules extends Screen {
  static properties = { all: { state: true }, draft: { state: true }, outcomes: { state: true }, busy: { state: true } }

  constructor() {
    super()
    this.all = null
    this.draft = null
    this.outcomes = new Map()
    this.busy = false
  }

  connectedCallback() {
    super.connectedCallback()
    this.load()
  }

  async load() {
    await this.attempt(async () => { this.all = (await get(scoped('/v1/schedules', { next: 3 }), this.signal)).schedules })
  }

  url(name, more = '') {
    return scoped(`/v1/schedules/${encodeURIComponent(name)}${more}`)
  }

  /** Asks for something to be done with one, and shows all anew. */
  async act(schedule, method, more, words) {
    try {
      const { json } = await call(method, this.url(schedule.name, more), method === 'POST' ? { body: {} } : {})
      this.outcomes = new Map(this.outcomes).set(schedule.name, json?.taskId ? html`${words}: task ${taskLink(json.taskId)}` : words)
      say(words)
      await this.load()
    } catch (e) {
      this.outcomes = new Map(this.outcomes).set(schedule.name, html`<span class="error">${plain(e.code)} ${plain(e.message)}</span>`)
    }
  }

  async takeAway(schedule) {
    if (await confirmed(html`<strong>Remove ${plain(schedule.name)}?</strong> Tasks that it has started go on.`)) await this.act(schedule, 'DELETE', '', 'Removed')
  }

  edit(schedule) {
    this.draft = { ...EMPTY, ...Object.fromEntries(Object.entries(schedule).filter(([, value]) => value != null)), kept: schedule }
    this.updateComplete.then(() => this.querySelector('form.schedule input:not([readonly])')?.focus())
  }

  /** What is in the form, with what it does not show as it was. */
  definition() {
    const { cron, at: once, zone, text, taskType, sessionId, missed, overlap, kept } = this.draft
    const rest = Object.fromEntries(['missedLimit', 'priority', 'template', 'body', 'metadata', 'callbackUrl', 'paused']
      .filter(name => kept?.[name] != null).map(name => [name, kept[name]]))
    if (text) delete rest.template
    const said = { cron, at: once, zone, text, taskType, sessionId, missed, overlap }
    return { ...rest, ...Object.fromEntries(Object.entries(said).filter(([, value]) => value !== '')) }
  }

  async save(event) {
    event.preventDefault()
    if (this.busy) return
    this.busy = true
    const name = this.draft.name
    const saved = await this.attempt(() => call('PUT', this.url(name), { body: this.definition() }))
    this.busy = false
    if (saved) {
      this.draft = null
      this.outcomes = new Map(this.outcomes).set(name, 'Saved')
      say('Saved')
      await this.load()
    }
  }

  field(name, label, more = {}) {
    return html`<label class="stack"><span>${label}</span><input type="text" name=${name} maxlength=${more.most ?? 200} placeholder=${more.hint ?? ''} ?required=${more.required} ?readonly=${more.fixed} pattern=${more.pattern ?? nothing}
      .value=${this.draft[name]} @input=${event => { this.draft = { ...this.draft, [name]: event.target.value } }}></label>`
  }

  choice(name, label, values) {
    return html`<label class="stack"><span>${label}</span><select name=${name} @change=${event => { this.draft = { ...this.draft, [name]: event.target.value } }}>
      ${Object.entries(values).map(([value, words]) => html`<option value=${value} ?selected=${this.draft[name] === value}>${words}</option>`)}</select></label>`
  }

  form() {
    const known = this.draft.kept
    return html`<form class="detail schedule" @submit=${this.save} aria-label=${known ? 'Change a schedule' : 'A new schedule'}>
      ${this.field('name', 'Name', { required: true, fixed: !!known, pattern: '[A-Za-z0-9._\\-]{1,64}', hint: 'report', most: 64 })}
      ${this.field('cron', 'Again and again, as cron has it', { hint: '0 9 * * 1-5' })}
      ${this.field('at', 'Or once, at', { hint: '2027-01-31T09:00:00' })}
      ${this.field('zone', 'In the time zone', { hint: 'UTC' })}
      <label class="stack"><span>What the agent is told${known?.template ? ' (nothing here: the template stays)' : ''}</span><textarea rows="3" maxlength="100000" ?required=${!known?.template} .value=${this.draft.text} @input=${event => { this.draft = { ...this.draft, text: event.target.value } }}></textarea></label>
      ${this.field('taskType', 'Agent', { hint: 'general' })}
      ${this.field('sessionId', 'In the conversation', { hint: 'one of its own each time' })}
      ${this.choice('missed', 'Moments at which nobody was there', { one: 'the last one is made up for', skip: 'are passed over', all: 'are all made up for' })}
      ${this.choice('overlap', 'While the task before goes on', { allow: 'it starts all the same', skip: 'it is passed over' })}
      ${problem(this.problem)}
      <div class="actions"><button class="primary" ?disabled=${this.busy}>Save</button><button type="button" @click=${() => { this.draft = null; this.problem = null }}>Leave it</button></div>
      ${NAME.test(this.draft.name) ? asCurl('PUT', this.url(this.draft.name), this.definition()) : nothing}</form>`
  }

  render() {
    return html`<div class="head"><h1>Schedules</h1><span class="faint">tasks that start by the clock</span>
        ${this.draft ? nothing : html`<button type="button" class="primary" @click=${() => { this.draft = { ...EMPTY }; this.updateComplete.then(() => this.querySelector('form.schedule input')?.focus()) }}>A new one</button>`}</div>
      ${this.draft ? this.form() : problem(this.problem)}
      ${this.all?.length ? html`<div class="cards">${this.all.map(schedule => html`<section class="card row">
        <h2><span tabindex="-1">${plain(schedule.name)}</span> <code>${plain(schedule.cron ?? schedule.at)}</code> <span class="faint">${plain(schedule.zone)}</span></h2>
        <p>${plain(line(schedule.text ?? schedule.template, 200))}</p>
        <dl class="facts"><dt>Next</dt><dd>${schedule.paused ? html`<strong>paused</strong>` : schedule.next.length ? schedule.next.map(next => html`<div>${moment(Date.parse(next), this.now)} <span class="faint">${exact(Date.parse(next))}</span></div>`) : 'never again'}</dd>
          <dt>Agent</dt><dd>${plain(schedule.taskType ?? 'general')}</dd><dt>Conversation</dt><dd>${schedule.sessionId ? sessionLink(schedule.sessionId) : 'one of its own each time'}</dd>
          <dt>Missed</dt><dd>${plain(schedule.missed)}</dd><dt>Overlap</dt><dd>${plain(schedule.overlap)}</dd><dt>So since</dt><dd>${moment(Date.parse(schedule.changedAt), this.now)}</dd></dl>
        <details><summary>All of it</summary>${raw(schedule)}</details>
        ${this.outcomes.has(schedule.name) ? html`<p class="outcome-line" role="status">${this.outcomes.get(schedule.name)}</p>` : nothing}
        <div class="actions">
          <button type="button" @click=${() => this.act(schedule, 'POST', '/fire', 'Started')}>Start now<span class="hidden"> ${plain(schedule.name)}</span></button>
          ${schedule.paused
            ? html`<button type="button" @click=${() => this.act(schedule, 'POST', '/resume', 'Goes on')}>Go on<span class="hidden"> with ${plain(schedule.name)}</span></button>`
            : html`<button type="button" @click=${() => this.act(schedule, 'POST', '/pause', 'Paused')}>Pause<span class="hidden"> ${plain(schedule.name)}</span></button>`}
          <button type="button" @click=${() => this.edit(schedule)}>Change<span class="hidden"> ${plain(schedule.name)}</span></button>
          <button type="button" class="danger" @click=${() => this.takeAway(schedule)}>Remove<span class="hidden"> ${plain(schedule.name)}</span></button></div></section>`)}</div>`
        : this.all ? empty('Nothing starts by the clock.', './millrace schedules set report --cron "0 9 * * 1-5" --text "Sum up what happened since yesterday."') : nothing}
      ${asCurl('GET', scoped('/v1/schedules', { next: 3 }))}`
  }
}
customElements.define('mill-schedules', Schedules)

// One event: what it says, what led to it, and what it led to.
import { html, nothing } from 'lit'
import { get, scoped } from '../api.js'
import { duration, exact, line, plain } from '../format.js'
import { gist } from '../story.js'
import { Screen, asCurl, copyButton, eventLink, moment, problem, raw, sessionLink, taskLink } from '../ui.js'

class EventScreen extends Screen {
  static properties = { chain: { state: true }, effects: { state: true } }

  constructor() {
    super()
    this.chain = []
    this.effects = []
  }

  get url() {
    return scoped(`/v1/events/${encodeURIComponent(this.params.eventId)}/chain`)
  }

  connectedCallback() {
    super.connectedCallback()
    this.attempt(async () => {
      this.chain = (await get(this.url, this.signal)).chain
      const event = this.chain.at(-1)
      if (!event?.taskId) return
      // effects come after their cause, and soon: a page behind it has them, as a rule
      const page = await get(scoped(`/v1/tasks/${encodeURIComponent(event.taskId)}/events`, { after: event.cursor, limit: 200 }), this.signal)
      this.effects = page.events.filter(one => one.parentEventId === event.id)
    })
  }

  render() {
    const event = this.chain.at(-1)
    if (!event) return html`<h1>Event</h1>${problem(this.problem)}`
    const first = this.chain[0]
    const row = one => html`<li class="row">${eventLink(one.id, html`<span class="type">${plain(one.type)}</span>`)} <span>${plain(line(gist(one), 120))}</span> <span class="faint">+${duration(one.timestamp - first.timestamp)}</span></li>`
    return html`<div class="head"><h1>${plain(event.type)}</h1><span class="id faint">${plain(event.id)}</span>${copyButton(event.id, 'Copy the id')}</div>
      ${problem(this.problem)}
      <dl class="facts"><dt>When</dt><dd>${exact(event.timestamp)} (${moment(event.timestamp, this.now)})</dd>
        ${event.taskId ? html`<dt>Task</dt><dd>${taskLink(event.taskId)}</dd>` : nothing}
        ${event.sessionId ? html`<dt>Session</dt><dd>${sessionLink(event.sessionId)}</dd>` : nothing}
        <dt>Source</dt><dd>${plain(event.source)}</dd><dt>Place</dt><dd class="id">${event.cursor}</dd></dl>
      <h2>What it says</h2>${raw(event.payload)}
      <h2>What led to it</h2>${this.chain.length > 1 ? html`<ol class="plain">${this.chain.slice(0, -1).map(row)}</ol>` : html`<p class="faint">Nothing: it is a root.</p>`}
      <h2>What it led to</h2>${this.effects.length ? html`<ol class="plain">${this.effects.map(row)}</ol>` : html`<p class="faint">Nothing among the 200 events of its task that follow.</p>`}
      ${asCurl('GET', this.url)}`
  }
}
customElements.define('mill-event', EventScreen)

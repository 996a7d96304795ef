// One event: what it says, what led to it, and what it led to.
import { html, nothing } from 'lit'
import { get, scoped } from '../api.js'
import { duration, exact, line, plain } from '../format.js'
import { gist } from '../story.js'
import { Screen, asCurl, copyButton, eventLink, moment, problem, raw, sessionLink, taskLink } from '../ui.js'

/** In no more tasks beside its own are effects looked for. */
const OTHERS = 20

class EventScreen extends Screen {
  static properties = { chain: { state: true }, effects: { state: true }, looked: { state: true }, left: { state: true } }

  constructor() {
    super()
    this.chain = []
    this.effects = []
    this.looked = false
    this.left = false
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
      await this.findEffects(event)
    })
  }

  /** Its effects in its own task, and in the tasks that this one has started or given an answer to. */
  async findEffects(event) {
    await this.among(event.taskId, event, event.cursor)
    const query = { parentTaskId: event.taskId, limit: 200 }
    const [children, task] = await Promise.all([
      get(scoped('/v1/tasks', query), this.signal), get(scoped(`/v1/tasks/${encodeURIComponent(event.taskId)}`), this.signal)])
    // what an event leads to comes soon: of the tasks that had begun by then and went on after it
    const others = [...children.tasks, ...task.parentTaskId ? [{ taskId: task.parentTaskId }] : []]
      .filter(one => one.updatedAt === undefined || one.updatedAt >= event.timestamp)
    for (const one of others.slice(0, OTHERS)) await this.among(one.taskId, event)
    this.left = others.length > OTHERS || children.next != null
    this.looked = true
  }

  /** All pages of a task, one after the other: effects are shown as they are found. */
  async among(taskId, event, after) {
    do {
      const page = await get(scoped(`/v1/tasks/${encodeURIComponent(taskId)}/events`, { after, limit: 500 }), this.signal)
      const found = page.events.filter(one => one.parentEventId === event.id && !this.effects.some(known => known.id === one.id))
      if (found.length) this.effects = [...this.effects, ...found]
      after = page.next
    } while (after)
  }

  render() {
    const event = this.chain.at(-1)
    if (!event) return html`<h1>Event</h1>${problem(this.problem)}`
    const first = this.chain[0]
    const row = one => html`<li class="row">${eventLink(one.id, html`<span class="type">${plain(one.type)}</span>`)} <span>${plain(line(gist(one), 120))}</span> <span class="faint">+${duration(one.timestamp - first.timestamp)}</span>${one.taskId && one.taskId !== event.taskId ? html` <span class="faint">in ${taskLink(one.taskId)}</span>` : nothing}</li>`
    return html`<div class="head"><h1>${plain(event.type)}</h1><span class="id faint">${plain(event.id)}</span>${copyButton(event.id, 'Copy the id')}${copyButton(location.href, 'Copy the link')}</div>
      ${problem(this.problem)}
      <dl class="facts"><dt>When</dt><dd>${exact(event.timestamp)} (${moment(event.timestamp, this.now)})</dd>
        ${event.taskId ? html`<dt>Task</dt><dd>${taskLink(event.taskId)}</dd>` : nothing}
        ${event.sessionId ? html`<dt>Session</dt><dd>${sessionLink(event.sessionId)}</dd>` : nothing}
        <dt>Source</dt><dd>${plain(event.source)}</dd><dt>Place</dt><dd class="id">${event.cursor}</dd></dl>
      <h2>What it says</h2>${raw(event.payload)}
      <h2>What led to it</h2>${this.chain.length > 1 ? html`<ol class="plain">${this.chain.slice(0, -1).map(row)}</ol>` : html`<p class="faint">Nothing: it is a root.</p>`}
      <h2>What it led to</h2>${this.effects.length ? html`<ol class="plain">${this.effects.map(row)}</ol>` : html`<p class="faint">${this.looked || !event.taskId ? 'Nothing.' : 'Looking…'}</p>`}
      ${this.left ? html`<p class="faint">Looked for in its own task and ${OTHERS} of its sub-tasks; there are more of these.</p>` : nothing}
      ${asCurl('GET', this.url)}`
  }
}
customElements.define('mill-event', EventScreen)

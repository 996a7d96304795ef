// Conversations: what there is, when something last happened in it, and what it has cost.
import { html, nothing } from 'lit'
import { call, get, scoped } from '../api.js'
import { costOf, count, plain } from '../format.js'
import { Screen, asCurl, at, confirmed, copyButton, empty, go, moment, problem, say } from '../ui.js'

/** The server counts no more tasks of one. */
const MOST_COUNTED = 1000

class Sessions extends Screen {
  static properties = { sessions: { state: true }, next: { state: true }, used: { state: true }, gone: { state: true }, busy: { state: true } }

  constructor() {
    super()
    this.sessions = []
    this.next = null
    this.used = new Map()
    this.gone = new Map()
    this.busy = false
  }

  connectedCallback() {
    super.connectedCallback()
    this.load()
  }

  async load(cursor) {
    this.loading = true
    await this.attempt(async () => {
      const page = await get(scoped('/v1/sessions', { limit: 100, cursor }), this.signal)
      this.sessions = cursor ? [...this.sessions, ...page.sessions] : page.sessions
      this.next = page.next
    })
    this.loading = false
    // of each conversation for itself: a table of all would not end
    const wanted = this.sessions.filter(session => !this.used.has(session.sessionId))
    const work = async () => {
      for (let one = wanted.shift(); one && !this.signal.aborted; one = wanted.shift()) {
        const sum = await get(scoped('/v1/usage', { sessionId: one.sessionId, from: new Date(one.createdAt).toISOString() }), this.signal).catch(() => null)
        this.used = new Map(this.used).set(one.sessionId, sum?.total ?? null)
      }
    }
    await Promise.all([work(), work(), work()])
  }

  async begin(event) {
    event.preventDefault()
    if (this.busy) return
    const title = this.querySelector('#session-title').value.trim()
    const participants = this.querySelector('#session-participants').value.split(/[\s,]+/).filter(name => name)
    const body = { ...title ? { title } : {}, ...participants.length ? { participants } : {} }
    this.busy = true
    const made = await this.attempt(async () => (await call('POST', scoped('/v1/sessions'), { body })).json)
    this.busy = false
    if (made) go(at(`/sessions/${encodeURIComponent(made.sessionId)}`))
  }

  async forget(session) {
    if (!await confirmed(html`<strong>Forget “${plain(session.title ?? session.sessionId)}”?</strong> Its tasks, what was said, and everything that refers to it are removed for good. Tasks that go on are cancelled first.`)) return
    try {
      const { json } = await call('DELETE', scoped(`/v1/sessions/${encodeURIComponent(session.sessionId)}`))
      this.gone = new Map(this.gone).set(session.sessionId, `being forgotten (${json.forgetId})`)
      say('Asked to forget')
    } catch (e) {
      this.gone = new Map(this.gone).set(session.sessionId, `not forgotten: ${e.code} ${e.message}`)
    }
  }

  cost(session) {
    const sum = this.used.get(session.sessionId)
    if (sum === undefined) return html`<span class="faint">…</span>`
    return sum === null || !sum.calls ? html`<span class="faint">none</span>` : html`${costOf(sum)} <span class="faint">${count(sum.calls)} calls</span>`
  }

  render() {
    return html`<div class="head"><h1>Sessions</h1><span class="faint">conversations, the one in which something happened last first</span></div>
      <form class="filters" @submit=${this.begin}><label><span>A new one, called</span><input id="session-title" type="text" maxlength="200" placeholder="whatever it is about"></label>
        <label><span>between</span><input id="session-participants" type="text" maxlength="1300" placeholder="user, planner, critic" title="Agents by name, and user for people. With several, whoever is mentioned as @name has the word. Empty: one agent at a time."></label>
        <button class="primary" ?disabled=${this.busy}>Begin</button></form>
      ${problem(this.problem)}
      ${this.sessions.length ? html`<div class="scroll"><table class="list"><thead><tr><th scope="col">Conversation</th><th scope="col">Id</th><th scope="col">Last</th><th scope="col">Begun</th><th scope="col" class="num">Tasks</th><th scope="col" class="num">Cost</th><th scope="col"><span class="hidden">What can be done</span></th></tr></thead>
        <tbody>${this.sessions.map(session => html`<tr class="row"><td class="wide"><a class="main" href=${at(`/sessions/${encodeURIComponent(session.sessionId)}`)}>${plain(session.title ?? session.sessionId)}</a>
            ${session.participants?.length ? html`<p class="faint">${plain(session.participants.join(', '))}</p>` : nothing}
            ${this.gone.has(session.sessionId) ? html`<p class="outcome-line" role="status">${plain(this.gone.get(session.sessionId))}</p>` : nothing}</td>
          <td><span class="id">${plain(session.sessionId)}</span> ${copyButton(session.sessionId, 'Copy the id')}</td><td>${moment(session.updatedAt, this.now)}</td><td>${moment(session.createdAt, this.now)}</td><td class="num">${session.tasks == null ? '' : session.tasks < MOST_COUNTED ? count(session.tasks) : `${count(MOST_COUNTED)}+`}</td><td class="num">${this.cost(session)}</td>
          <td class="num"><a class="button" href=${at('/tasks', { sessionId: session.sessionId })}>Tasks<span class="hidden"> of ${plain(session.title ?? session.sessionId)}</span></a>
            <button type="button" class="danger" ?disabled=${this.gone.has(session.sessionId)} @click=${() => this.forget(session)}>Forget<span class="hidden"> ${plain(session.title ?? session.sessionId)}</span></button></td></tr>`)}</tbody></table></div>`
        : this.loading ? html`<p class="faint">Loading…</p>` : empty('Nobody has said anything yet.')}
      ${this.next ? html`<button type="button" class="more" @click=${() => this.load(this.next)}>Older ones</button>` : nothing}
      ${asCurl('GET', scoped('/v1/sessions', { limit: 100 }))}`
  }
}
customElements.define('mill-sessions', Sessions)

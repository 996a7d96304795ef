// What follows from events of the world around: the rules that are in force, in the order in which they are asked.
import { html, nothing } from 'lit'
import { call, get } from '../api.js'
import { plain } from '../format.js'
import { Screen, asCurl, confirmed, empty, problem, raw, say } from '../ui.js'

const DOES = { agent: 'an agent looks at it', call: 'a tool is called', log: 'it is noted', query: 'it is run as what somebody asks' }
const FROM = { 'built-in': 'comes with Millrace', file: 'a file', definition: 'defined here, for all instances' }
const BEGIN = { on: 'order.placed', priority: 60, agent: { prompt: '{{payload.customer | Somebody}} has ordered something. Tell the user.' } }

class Rules extends Screen {
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
    await this.attempt(async () => { this.all = (await get('/v1/rules', this.signal)).rules })
  }

  url(id) {
    return `/v1/rules/${encodeURIComponent(id)}`
  }

  said(id, words) {
    this.outcomes = new Map(this.outcomes).set(id, words)
    say(words)
  }

  edit(rule) {
    this.problem = null
    this.draft = rule ? { id: rule.id, known: true, text: JSON.stringify(rule.rule, null, 2) } : { id: '', known: false, text: JSON.stringify(BEGIN, null, 2) }
    this.updateComplete.then(() => this.querySelector('form.rule input:not([readonly]), form.rule textarea')?.focus())
  }

  async save(event) {
    event.preventDefault()
    if (this.busy) return
    let body
    try {
      body = JSON.parse(this.draft.text)
    } catch (e) {
      this.problem = { code: 'bad_json', message: `That is no JSON: ${e.message}` }
      return
    }
    const id = this.draft.id
    this.busy = true
    const saved = await this.attempt(() => call('PUT', this.url(id), { body }))
    this.busy = false
    if (!saved) return
    this.draft = null
    this.said(id, 'Defined')
    await this.load()
  }

  /** Takes events with nothing following, or lets it follow again. */
  async enable(rule, enabled) {
    try {
      await call('PUT', this.url(rule.id), { body: { ...rule.rule, enabled } })
      this.said(rule.id, enabled ? 'Enabled' : 'Disabled')
      await this.load()
    } catch (e) {
      this.said(rule.id, `${e.code} ${e.message}`)
    }
  }

  async takeBack(rule) {
    if (!await confirmed(html`<strong>Take back the definition of ${plain(rule.id)}?</strong> A rule of a file or one that comes along and has this id is in force again.`)) return
    try {
      await call('DELETE', this.url(rule.id))
      this.said(rule.id, 'Taken back')
      await this.load()
    } catch (e) {
      this.said(rule.id, `${e.code} ${e.message}`)
    }
  }

  form() {
    return html`<form class="detail rule" @submit=${this.save} aria-label=${this.draft.known ? 'Change a rule' : 'A new rule'}>
      <label class="stack"><span>Id</span><input type="text" maxlength="64" required ?readonly=${this.draft.known} .value=${this.draft.id} @input=${event => { this.draft = { ...this.draft, id: event.target.value } }}></label>
      <label class="stack"><span>The rule as JSON; what stands under the id in a file</span><textarea class="code" rows="10" spellcheck="false" maxlength="100000" required .value=${this.draft.text} @input=${event => { this.draft = { ...this.draft, text: event.target.value } }}></textarea></label>
      ${problem(this.problem)}
      <div class="actions"><button class="primary" ?disabled=${this.busy}>Save for all instances</button><button type="button" @click=${() => { this.draft = null; this.problem = null }}>Leave it</button></div></form>`
  }

  render() {
    return html`<div class="head"><h1>Rules</h1><span class="faint">what follows from events of the world around; the first that matches takes an event</span>
        ${this.draft ? nothing : html`<button type="button" class="primary" @click=${() => this.edit(null)}>A new one</button>`}</div>
      ${this.draft ? this.form() : problem(this.problem)}
      ${this.all?.length ? html`<div class="scroll"><table class="list"><thead><tr><th scope="col" class="num">Priority</th><th scope="col">Rule</th><th scope="col">Events</th><th scope="col">Then</th><th scope="col">From</th><th scope="col"><span class="hidden">What can be done</span></th></tr></thead>
        <tbody>${this.all.map(rule => html`<tr class="row"><td class="num">${rule.priority}</td>
          <td class="wide"><details><summary><strong>${plain(rule.id)}</strong> <span class="faint">${plain(rule.version)}</span></summary>${raw(rule.rule)}</details>
            ${this.outcomes.has(rule.id) ? html`<p class="outcome-line" role="status">${plain(this.outcomes.get(rule.id))}</p>` : nothing}</td>
          <td>${rule.on.map(type => html`<div><code>${plain(type)}</code></div>`)}</td>
          <td>${rule.enabled ? DOES[rule.handler] ?? plain(rule.handler) : html`<strong class="state suspended">disabled</strong>: nothing`}</td><td>${FROM[rule.source] ?? plain(rule.source)}</td>
          <td class="num"><button type="button" @click=${() => this.edit(rule)}>Change<span class="hidden"> ${plain(rule.id)}</span></button>
            <button type="button" @click=${() => this.enable(rule, !rule.enabled)}>${rule.enabled ? 'Disable' : 'Enable'}<span class="hidden"> ${plain(rule.id)}</span></button>
            ${rule.source === 'definition' ? html`<button type="button" class="danger" @click=${() => this.takeBack(rule)}>Take back<span class="hidden"> ${plain(rule.id)}</span></button>` : nothing}</td></tr>`)}</tbody></table></div>`
        : this.all ? empty('There is no rule, so events are noted and no more.') : nothing}
      ${asCurl('GET', '/v1/rules')}`
  }
}
customElements.define('mill-rules', Rules)

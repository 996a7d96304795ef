// Going on from an event of a task in another way.
import { html, nothing, LitElement } from 'lit'
import { call, get, scoped } from './api.js'
import { freshId, plain } from './format.js'
import { asCurl, at, go, problem } from './ui.js'

const RESULTS = ['TOOL_CALL_COMPLETED', 'TOOL_CALL_FAILED']

class ForkForm extends LitElement {
  static properties = { task: { attribute: false }, event: { attribute: false }, agents: { state: true }, draft: { state: true }, error: { state: true }, sending: { state: true } }

  /** One for each form: pressing twice makes one task. */
  #key = freshId()
  #shown = ''

  constructor() {
    super()
    this.agents = []
    this.draft = {}
    this.error = null
    this.sending = false
  }

  createRenderRoot() {
    return this
  }

  connectedCallback() {
    super.connectedCallback()
    get('/v1/agents').then(page => { this.agents = page.agents.map(agent => agent.name) }, () => { this.agents = [] })
  }

  willUpdate() {
    if (this.event && this.#shown !== this.event.id) {
      this.#shown = this.event.id
      this.#key = freshId()
      this.draft = {}
      this.error = null
    }
  }

  get path() {
    return scoped(`/v1/tasks/${encodeURIComponent(this.task.taskId)}/fork`)
  }

  body() {
    const body = { fromEvent: this.event.id }
    for (const field of ['text', 'agent', 'model', 'error']) if (this.draft[field]?.trim()) body[field] = this.draft[field].trim()
    if (this.draft.result?.trim()) body.result = JSON.parse(this.draft.result)
    return body
  }

  set(field, value) {
    this.draft = { ...this.draft, [field]: value }
    this.#key = freshId()
  }

  async send(event) {
    event.preventDefault()
    if (this.sending) return
    this.error = null
    let body
    try {
      body = this.body()
    } catch (e) {
      this.error = { code: 'bad_json', message: `The result is no JSON: ${e.message}` }
      return
    }
    this.sending = true
    try {
      const { json } = await call('POST', this.path, { body, headers: { 'idempotency-key': this.#key } })
      go(at(`/compare/${encodeURIComponent(this.task.taskId)}/${encodeURIComponent(json.taskId)}`))
    } catch (e) {
      this.error = e
    }
    this.sending = false
  }

  render() {
    if (!this.event) return nothing
    const brings = RESULTS.includes(this.event.type)
    const old = brings ? JSON.stringify(this.event.payload.result ?? this.event.payload.error) : ''
    let body
    try {
      body = this.body()
    } catch {
      body = { fromEvent: this.event.id }
    }
    return html`<form class="fork" aria-label="Fork" @submit=${this.send}>
      <h3>Go on from here in another way</h3>
      <p class="faint">A task of its own: its model is shown what this one's was shown up to here, and what you change. Its tool calls are really made.</p>
      <label class="stack"><span>What was said last, in other words (empty = the same)</span><textarea name="text" rows="2" maxlength="100000" .value=${this.draft.text ?? ''} @input=${event => this.set('text', event.target.value)}></textarea></label>
      ${brings ? html`<label class="stack"><span>Another result, as JSON (empty = the same)</span><textarea name="result" class="code" rows="3" spellcheck="false" placeholder=${plainText(old)} .value=${this.draft.result ?? ''} @input=${event => this.set('result', event.target.value)}></textarea></label>
        <label class="stack"><span>Or an error in place of it</span><input name="error" type="text" maxlength="2000" .value=${this.draft.error ?? ''} @input=${event => this.set('error', event.target.value)}></label>` : nothing}
      <div class="fields"><label><span>Agent</span><select name="agent" @change=${event => this.set('agent', event.target.value)}><option value="">${plain(this.task.agent ?? this.task.taskType)}</option>${this.agents.filter(name => name !== this.task.agent).map(name => html`<option value=${name} ?selected=${this.draft.agent === name}>${plain(name)}</option>`)}</select></label>
        <label><span>Model (empty = the same)</span><input name="model" type="text" maxlength="200" .value=${this.draft.model ?? ''} @input=${event => this.set('model', event.target.value)}></label></div>
      ${problem(this.error)}
      <div class="actions"><button class="primary" ?disabled=${this.sending}>Fork</button></div>
      ${asCurl('POST', this.path, body)}</form>`
  }
}

const plainText = text => (text.length > 200 ? `${text.slice(0, 200)}…` : text)

customElements.define('mill-fork', ForkForm)

// What the screens share: parts of pages, links, and the element that a screen is.
import { html, nothing, LitElement } from 'lit'
import { call, curl, namespace } from './api.js'
import { diff, excerpt } from './diff.js'
import { exact, plain, relative, settings, shortId } from './format.js'

/** A screen: light DOM, so that one stylesheet and the reader's own tools reach all of it. */
export class Screen extends LitElement {
  static properties = { params: { attribute: false }, query: { attribute: false }, problem: { state: true }, loading: { state: true }, now: { state: true } }

  #clock = 0
  #abort = new AbortController()

  constructor() {
    super()
    this.params = {}
    this.query = new URLSearchParams()
    this.problem = null
    this.loading = true
    this.now = Date.now()
  }

  createRenderRoot() {
    return this
  }

  get signal() {
    return this.#abort.signal
  }

  connectedCallback() {
    super.connectedCallback()
    this.#abort = new AbortController()
    this.#clock = setInterval(() => document.hidden || (this.now = Date.now()), 1000)
  }

  disconnectedCallback() {
    super.disconnectedCallback()
    clearInterval(this.#clock)
    this.#abort.abort()
  }

  /** Does it, and shows what went wrong. */
  async attempt(work) {
    try {
      this.problem = null
      return await work()
    } catch (e) {
      if (e.name !== 'AbortError') this.problem = e
      return undefined
    }
  }

  /** Other filters in the address, without another entry in the history for each letter. */
  filter(changes, replace = true) {
    const query = new URLSearchParams(location.search)
    for (const [name, value] of Object.entries(changes)) {
      if (value == null || value === '') query.delete(name)
      else query.set(name, value)
    }
    go(location.pathname.replace(/^\/console/, '') + (query.size ? `?${query}` : ''), replace)
  }
}

/** The address of a screen, of the same tenant. */
export function at(path, query = {}) {
  const all = new URLSearchParams()
  const tenant = namespace()
  if (tenant !== 'default') all.set('namespace', tenant)
  for (const [name, value] of Object.entries(query)) if (value != null && value !== '') all.set(name, value)
  return `/console${path}${all.size ? `?${all}` : ''}`
}

/** Goes to a screen. */
export function go(path, replace = false) {
  const url = path.startsWith('/console') ? path : `/console${path}`
  history[replace ? 'replaceState' : 'pushState'](null, '', url)
  dispatchEvent(new CustomEvent('mill-go', { detail: { replace } }))
}

const id = encodeURIComponent
export const taskLink = (taskId, words) => html`<a class=${words ? nothing : 'id'} href=${at(`/tasks/${id(taskId)}`)} title=${taskId}>${words ?? plain(shortId(taskId))}</a>`
export const sessionLink = sessionId => html`<a class="id" href=${at(`/sessions/${id(sessionId)}`)} title=${sessionId}>${plain(shortId(sessionId))}</a>`
export const eventLink = (eventId, words) => html`<a class=${words ? nothing : 'id'} href=${at(`/events/${id(eventId)}`)} title=${eventId}>${words ?? plain(shortId(eventId))}</a>`

const MARKS = { accepted: '◌', idle: '◌', reasoning: '◐', acting: '▶', suspended: '❚❚', completed: '✓', failed: '✕', cancelled: '⊘' }

/** A state: a mark, a word and a colour, so that none of them is needed. */
export const stateMark = state => html`<span class="state ${MARKS[state] ? state : ''}"><span aria-hidden="true">${MARKS[state] ?? '?'}</span> ${state}</span>`

/** A moment: how long ago, and exactly on hover. */
export const moment = (ms, now = Date.now()) => (ms ? html`<time datetime=${new Date(ms).toISOString()} title=${exact(ms)}>${relative(ms, now)}</time>` : nothing)

/** What went wrong, in the words of the server. */
export const problem = error => error
  ? html`<div class="problem" role="alert"><strong>${error.code || (error.status ? `HTTP ${error.status}` : 'Not done')}</strong> ${plain(error.message)}</div>`
  : nothing

/** The command that does what this screen does. */
export const asCurl = (method, url, body) => html`<details class="curl"><summary>As a command</summary>
  <div class="copyable"><pre tabindex="0">${curl(method, url, body)}</pre>${copyButton(curl(method, url, body), 'Copy the command')}</div></details>`

/** Copies a text. */
export const copyButton = (text, label) => html`<button type="button" class="quiet" aria-label=${label} @click=${async event => {
  const button = event.currentTarget
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    return say(`${label}: not possible here, this page comes without TLS`)
  }
  say(`${label}: done`)
  button.classList.add('done')
  setTimeout(() => button.classList.remove('done'), 1200)
}}>copy${label.endsWith('link') ? ' link' : ''}</button>`

/** Says something to those who listen to the page instead of looking at it. */
export function say(words) {
  dispatchEvent(new CustomEvent('mill-say', { detail: words }))
}

/** Nothing is there: what to do next. */
export const empty = (words, command) => html`<div class="empty"><p>${words}</p>${command ? html`<pre tabindex="0">${command}</pre>` : nothing}</div>`

/** Asks before something is done that cannot be undone. */
export function confirmed(words) {
  return new Promise(resolve => dispatchEvent(new CustomEvent('mill-ask', { detail: { words, resolve } })))
}

/** What changed between two texts, with a few lines around it. */
export function difference(before, after, label) {
  const rows = excerpt(diff(before, after))
  return rows.length ? html`<pre class="diff" tabindex="0" aria-label=${label}>${rows.map(row => row === null ? html`<span class="gap">⋯</span>` : html`<span class=${row.mark === '+' ? 'added' : row.mark === '-' ? 'removed' : ''}>${row.mark} ${plain(row.text)}</span>`)}</pre>` : html`<p class="faint">Nothing.</p>`
}

/** JSON as it is. */
export const raw = value => html`<pre class="json" tabindex="0">${plain(JSON.stringify(value, null, 2))}</pre>`

/** Whether single keys may be taken for commands now. */
export function keysFree(event) {
  return settings.keys && !event.ctrlKey && !event.metaKey && !event.altKey && !document.querySelector('dialog[open]')
    && !event.composedPath()[0]?.closest?.('input, textarea, select, [contenteditable]')
}

/** Moves through rows with j and k; each row has the class "row" and something that can take the focus. */
export function moveRow(root, step) {
  const rows = [...root.querySelectorAll('.row')].map(row => row.querySelector('a.main, button.main') ?? row)
  const now = rows.findIndex(row => row === document.activeElement || row.closest('.row')?.contains(document.activeElement))
  const next = rows[Math.max(0, Math.min(rows.length - 1, now < 0 ? 0 : now + step))]
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
}

// Approvals and questions: the same form wherever somebody decides.

/** What somebody decides about a tool call; announces "decided" with what the server said. */
class DecisionForm extends LitElement {
  static properties = { approval: { attribute: false }, schema: { attribute: false }, editing: { state: true }, error: { state: true }, sent: { state: true }, draft: { state: true }, reason: { state: true } }

  createRenderRoot() {
    return this
  }

  constructor() {
    super()
    this.editing = false
    this.error = null
    this.sent = ''
    this.draft = ''
    this.reason = ''
  }

  willUpdate(changes) {
    if (changes.has('approval') && changes.get('approval')?.callId !== this.approval?.callId) {
      this.editing = false
      this.error = null
      this.sent = ''
      this.reason = ''
      this.draft = JSON.stringify(this.approval?.params ?? {}, null, 2)
    }
  }

  get path() {
    const tenant = this.approval.namespace ?? namespace()
    return `/v1/approvals/${this.approval.callId.split('/').map(encodeURIComponent).join('/')}${tenant === 'default' ? '' : `?namespace=${encodeURIComponent(tenant)}`}`
  }

  edit() {
    this.editing = true
    this.updateComplete.then(() => this.querySelector('textarea, .fields input')?.focus())
  }

  async decide(decision) {
    if (this.sent) return
    const body = { decision }
    if (this.reason.trim()) body.reason = this.reason.trim()
    if (settings.name) body.decidedBy = settings.name
    if (decision === 'approve' && this.editing) {
      try {
        body.params = JSON.parse(this.draft)
      } catch (e) {
        this.error = { code: 'bad_json', message: `The arguments are no JSON: ${e.message}` }
        return
      }
    }
    this.sent = decision
    this.error = null
    try {
      await call('POST', this.path, { body })
      say(decision === 'approve' ? 'Asked to approve' : 'Asked to reject')
      this.dispatchEvent(new CustomEvent('decided', { bubbles: true, detail: { callId: this.approval.callId, decision } }))
    } catch (e) {
      this.sent = ''
      this.error = e
    }
  }

  /** One field for each argument that has a plain type; the rest is JSON. */
  fields() {
    const properties = this.schema?.properties
    let values
    try {
      values = JSON.parse(this.draft)
    } catch {
      return nothing
    }
    if (!properties || values === null || typeof values !== 'object' || Array.isArray(values)) return nothing
    const set = (name, value) => {
      this.draft = JSON.stringify({ ...values, [name]: value }, null, 2)
    }
    const plainFields = Object.entries(properties).filter(([, schema]) => ['string', 'number', 'integer', 'boolean'].includes(schema.type))
    return plainFields.length ? html`<div class="fields">${plainFields.map(([name, schema]) => html`<label title=${schema.description ?? ''}>
      <span>${plain(name)}</span>
      ${schema.type === 'boolean'
        ? html`<input type="checkbox" .checked=${values[name] === true} @change=${event => set(name, event.target.checked)}>`
        : schema.type === 'string'
          ? html`<textarea rows=${String(values[name] ?? '').includes('\n') ? 5 : 1} .value=${String(values[name] ?? '')} @input=${event => set(name, event.target.value)}></textarea>`
          : html`<input type="number" step=${schema.type === 'integer' ? 1 : 'any'} .value=${String(values[name] ?? '')} @input=${event => set(name, event.target.value === '' ? undefined : Number(event.target.value))}>`}
    </label>`)}</div>` : nothing
  }

  render() {
    const wanted = this.approval
    if (!wanted) return nothing
    return html`
      ${this.editing ? html`
        ${this.fields()}
        <label class="stack"><span>Arguments as JSON</span>
          <textarea class="code" rows=${Math.min(16, this.draft.split('\n').length + 1)} spellcheck="false" .value=${this.draft} @input=${event => { this.draft = event.target.value }}></textarea></label>`
        : html`<pre class="json" tabindex="0" aria-label="Arguments">${plain(JSON.stringify(wanted.params ?? {}, null, 2))}</pre>`}
      ${wanted.reason ? html`<p class="faint">Asked for because: ${plain(wanted.reason)}</p>` : nothing}
      <label class="stack"><span>Reason (of a rejection the model reads it)</span>
        <input class="reason" type="text" maxlength="2000" .value=${this.reason} @input=${event => { this.reason = event.target.value }}></label>
      ${problem(this.error)}
      <div class="actions">
        <button type="button" class="primary approve" ?disabled=${!!this.sent} @click=${() => this.decide('approve')}>${this.editing ? 'Approve as edited' : 'Approve'}</button>
        <button type="button" class="danger reject" ?disabled=${!!this.sent} @click=${() => this.decide('reject')}>Reject</button>
        ${this.editing
          ? html`<button type="button" ?disabled=${!!this.sent} @click=${() => { this.editing = false; this.draft = JSON.stringify(wanted.params ?? {}, null, 2) }}>Back to what was asked</button>`
          : html`<button type="button" class="edit" ?disabled=${!!this.sent} @click=${() => this.edit()}>Edit the arguments</button>`}
        ${this.sent ? html`<span class="faint" role="status">Asked to ${this.sent}; the task has not said so yet.</span>` : nothing}
      </div>
      ${asCurl('POST', this.path, { decision: 'approve' })}`
  }
}
customElements.define('mill-decision', DecisionForm)

/** The answer to a question; announces "answered". */
class AnswerForm extends LitElement {
  static properties = { taskId: { attribute: false }, tenant: { attribute: false }, sent: { state: true }, error: { state: true } }

  createRenderRoot() {
    return this
  }

  constructor() {
    super()
    this.sent = false
    this.error = null
  }

  willUpdate(changes) {
    if (changes.has('taskId')) {
      this.sent = false
      this.error = null
    }
  }

  async send(event) {
    event.preventDefault()
    const field = this.querySelector('textarea')
    const text = field.value.trim()
    if (!text || this.sent) return
    this.sent = true
    this.error = null
    const tenant = this.tenant ?? namespace()
    try {
      await call('POST', `/v1/tasks/${encodeURIComponent(this.taskId)}/resume${tenant === 'default' ? '' : `?namespace=${encodeURIComponent(tenant)}`}`, { body: { newInput: text } })
      field.value = ''
      say('Answer sent')
      this.dispatchEvent(new CustomEvent('answered', { bubbles: true, detail: { taskId: this.taskId } }))
    } catch (e) {
      this.sent = false
      this.error = e
    }
  }

  render() {
    return html`<form class="answer" @submit=${this.send}>
      <label class="stack"><span>Your answer</span><textarea rows="2" maxlength="100000" required
        @keydown=${event => event.key === 'Enter' && !event.shiftKey && !event.isComposing && (event.preventDefault(), this.querySelector('form').requestSubmit())}></textarea></label>
      ${problem(this.error)}
      <div class="actions"><button class="primary" ?disabled=${this.sent}>Answer</button>
      ${this.sent ? html`<span class="faint" role="status">Sent; the task has not gone on yet.</span>` : nothing}</div></form>`
  }
}
customElements.define('mill-answer', AnswerForm)

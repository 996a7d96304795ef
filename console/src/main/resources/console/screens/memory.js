// What agents remember: documents with their versions. Nothing is written before its difference was seen.
import { html, nothing } from 'lit'
import { call, get, namespace } from '../api.js'
import { bytes, count, plain, settings } from '../format.js'
import { markdown } from '../markdown.js'
import { Screen, asCurl, at, confirmed, difference, empty, go, moment, problem, say, taskLink } from '../ui.js'

class Memory extends Screen {
  static properties = { documents: { state: true }, next: { state: true }, spaces: { state: true }, text: { state: true }, draft: { state: true }, versions: { state: true }, looked: { state: true }, theirs: { state: true }, saving: { state: true }, preview: { state: true }, old: { state: true }, forgetting: { state: true } }

  #etag = ''

  constructor() {
    super()
    this.documents = []
    this.next = null
    this.spaces = []
    this.text = null
    this.draft = null
    this.versions = []
    this.looked = null
    this.theirs = null
    this.saving = false
    this.preview = false
    this.old = null
    this.forgetting = ''
  }

  get document() {
    return this.params.document
  }

  url(more = '') {
    return `/v1/memory/${encodeURIComponent(namespace())}/${this.document.split('/').map(encodeURIComponent).join('/')}${more}`
  }

  connectedCallback() {
    super.connectedCallback()
    if (this.document) this.open()
    else this.list()
  }

  async list(cursor) {
    await this.attempt(async () => {
      const [page, spaces] = await Promise.all([
        get(`/v1/memory/${encodeURIComponent(namespace())}?limit=200${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`, this.signal),
        get('/v1/memory?limit=100', this.signal)])
      this.documents = cursor ? [...this.documents, ...page.documents] : page.documents
      this.next = page.next
      this.spaces = spaces.namespaces
    })
    this.loading = false
  }

  async open() {
    await this.attempt(async () => {
      try {
        const answer = await call('GET', this.url(), { headers: { accept: 'text/markdown' }, signal: this.signal })
        this.text = answer.text
        this.#etag = answer.headers.get('etag')
      } catch (e) {
        if (e.code !== 'unknown_document') throw e
        this.text = ''
        this.#etag = ''
        this.draft ??= ''
      }
      this.versions = this.#etag ? (await get(this.url('/versions'), this.signal)).versions : []
    })
    this.loading = false
  }

  get signed() {
    return settings.name ? `?by=${encodeURIComponent(settings.name)}` : ''
  }

  async save() {
    this.saving = true
    await this.attempt(async () => {
      try {
        const headers = this.#etag ? { 'if-match': this.#etag } : { 'if-none-match': '*' }
        const answer = await call('PUT', this.url() + this.signed, { body: this.draft, type: 'text/markdown', headers })
        say(answer.status === 202 ? 'Asked to save' : 'Saved')
        this.looked = null
        this.theirs = null
        this.draft = null
        if (answer.status === 202) throw { code: 'not yet', message: 'The edit is stored, and the writer of memory has not come to it yet. Look again in a moment.' }
        await this.open()
      } catch (e) {
        if (e.status !== 412) throw e
        // somebody else wrote meanwhile: show what they made of it, and let the reader decide
        const answer = await call('GET', this.url(), { headers: { accept: 'text/markdown' } })
        // of several changes of theirs, the reader's own goes out from the first
        this.theirs = { before: this.theirs?.before ?? this.text, now: answer.text }
        this.text = answer.text
        this.#etag = answer.headers.get('etag')
        this.looked = null
      }
    })
    this.saving = false
  }

  /** What it was in a version, and how it has changed since. */
  async look(version) {
    await this.attempt(async () => {
      const { text } = await call('GET', this.url(`/versions/${version}`), { headers: { accept: 'text/markdown' }, signal: this.signal })
      this.old = { version, text }
    })
  }

  async restore(version) {
    if (!await confirmed(`Make it what it was in version ${version}? That is a new version; none is lost.`)) return
    await this.attempt(async () => {
      this.old = null
      await call('POST', this.url(`/versions/${version}/restore`) + this.signed, { headers: { 'if-match': this.#etag } })
      say('Restored')
      await this.open()
    })
  }

  async takeAway() {
    if (!await confirmed(`Take ${this.document} away? Agents no longer see it; its versions are kept for a while.`)) return
    await this.attempt(async () => {
      await call('DELETE', this.url() + this.signed, { headers: { 'if-match': this.#etag } })
      say('Taken away')
      go(at('/memory'))
    })
  }

  begin(event) {
    event.preventDefault()
    const path = this.querySelector('#new-document').value.trim()
    if (path) go(at(`/memory/${encodeURIComponent(path)}`))
  }

  /** All that the namespace remembers. One document is taken away on its own page. */
  async forget() {
    if (!await confirmed(html`<strong>Forget all that is remembered in ${plain(namespace())}?</strong> All its documents, with their versions, are removed for good.`)) return
    await this.attempt(async () => {
      const { json } = await call('POST', '/v1/forget', { body: { scope: 'memory', namespace: namespace() } })
      this.forgetting = `being forgotten (${json.forgetId})`
      say('Asked to forget')
    })
  }

  render() {
    return this.document ? this.one() : this.all()
  }

  all() {
    return html`<div class="head"><h1>Memory</h1><span class="faint">of the namespace ${plain(namespace())}</span></div>
      ${problem(this.problem)}
      <form class="filters" @submit=${this.begin}><label><span>A new document, at</span><input id="new-document" type="text" maxlength="200" required placeholder="facts/user.md"></label><button class="primary">Write it</button>
        ${this.documents.length ? html`<button type="button" class="danger" ?disabled=${!!this.forgetting} @click=${() => this.forget()}>Forget all of it…</button>` : nothing}</form>
      ${this.forgetting ? html`<p class="outcome-line" role="status">${plain(this.forgetting)}</p>` : nothing}
      ${this.spaces.length > 1 ? html`<div class="chips" role="group" aria-label="Namespace">${this.spaces.map(space => html`<a class="button" aria-current=${space.namespace === namespace() ? 'true' : nothing} href=${`/console/memory${space.namespace === 'default' ? '' : `?namespace=${encodeURIComponent(space.namespace)}`}`}>${plain(space.namespace)} <span class="tally">${count(space.documents)}</span></a>`)}</div>` : nothing}
      ${this.documents.length ? html`<div class="scroll"><table class="list"><thead><tr><th scope="col">Document</th><th scope="col">Summary</th><th scope="col">Changed</th><th scope="col">By</th><th scope="col" class="num">Size</th></tr></thead>
        <tbody>${this.documents.map(one => html`<tr class="row"><td><a class="main" href=${at(`/memory/${encodeURIComponent(one.path)}`)}>${plain(one.path)}</a></td><td class="wide">${plain(one.summary)}</td><td>${moment(Date.parse(one.updatedAt), this.now)}</td><td>${this.by(one)}</td><td class="num">${bytes(one.size)}</td></tr>`)}</tbody></table></div>`
        : this.loading ? html`<p class="faint">Loading…</p>` : empty('Nothing is remembered here yet. Agents write what they learn; so can you:', './millrace memory edit facts/user.md')}
      ${this.next ? html`<button type="button" class="more" @click=${() => this.list(this.next)}>More</button>` : nothing}
      ${asCurl('GET', `/v1/memory/${encodeURIComponent(namespace())}`)}`
  }

  by(one) {
    const [who, id] = String(one.updatedBy).split(' ')
    return (who === 'task' || who === 'reflection') && id ? html`${who} ${taskLink(id)}` : plain(one.updatedBy)
  }

  one() {
    const editing = this.draft != null
    return html`<div class="head"><h1>${plain(this.document)}</h1><a class="button" href=${at('/memory')}>All documents</a></div>
      ${problem(this.problem)}
      ${this.text == null ? nothing : editing ? this.editor() : html`<section class="answer-box" aria-label="Document">${markdown(this.text)}</section>
        <div class="actions"><button type="button" class="primary" @click=${() => { this.draft = this.text }}>Edit</button><button type="button" class="danger" @click=${() => this.takeAway()}>Take away…</button></div>`}
      ${this.versions.length ? html`<h2>Versions</h2><ul class="plain">${this.versions.map((one, i) => html`<li class="row">${one.version} · ${moment(Date.parse(one.updatedAt), this.now)} · ${this.by(one)} · ${one.deleted ? 'taken away' : bytes(one.size)} ${one.deleted ? nothing : html`<button type="button" class="quiet" aria-expanded=${this.old?.version === one.version} @click=${() => (this.old?.version === one.version ? (this.old = null) : this.look(one.version))}>look at<span class="hidden"> version ${one.version}</span></button>`}
        ${this.old?.version === one.version ? this.oldOne(i > 0) : nothing}</li>`)}</ul>` : nothing}
      ${asCurl('GET', this.url())}`
  }

  oldOne(restorable) {
    const { version, text } = this.old
    return html`<section class="answer-box" aria-label="Version ${version}">${markdown(text)}</section>
      ${restorable ? html`<h3>What making it so again would change</h3>${difference(this.text ?? '', text, `From now to version ${version}`)}
        <div class="actions"><button type="button" class="primary" @click=${() => this.restore(version)}>Restore version ${version}…</button></div>` : nothing}`
  }

  editor() {
    return html`${this.theirs ? html`<div class="problem" role="alert"><strong>Somebody else wrote meanwhile</strong> Both changes are below, against what you began with; your text is as you left it. Saving it now takes the place of theirs.</div>
      <div class="compare"><section><h2>Their change</h2>${difference(this.theirs.before, this.theirs.now, 'Their change')}</section>
        <section><h2>Your change</h2>${difference(this.theirs.before, this.draft, 'Your change so far')}</section></div>
      <div class="actions"><button type="button" @click=${() => { this.draft = this.theirs.now; this.looked = null }}>Go on from theirs</button></div>` : nothing}
      <label class="stack"><span>Text, in Markdown</span><textarea class="code" rows="14" spellcheck="true" .value=${this.draft} @input=${event => { this.draft = event.target.value; this.looked = null }}></textarea></label>
      <label class="check"><input type="checkbox" .checked=${this.preview} @change=${event => { this.preview = event.target.checked }}> Show how it reads</label>
      ${this.preview ? html`<section class="answer-box" aria-label="How it reads">${markdown(this.draft)}</section>` : nothing}
      ${this.looked === this.draft ? html`<h2>What changes</h2>${difference(this.text, this.draft, 'Your change')}
        <div class="actions"><button type="button" class="primary" ?disabled=${this.saving || this.draft === this.text} @click=${() => this.save()}>Save</button><button type="button" @click=${() => { this.looked = null }}>Go on editing</button></div>`
        : html`<div class="actions"><button type="button" class="primary" @click=${() => { this.looked = this.draft }}>See what changes</button><button type="button" @click=${() => { this.draft = null; this.theirs = null }}>Leave it as it is</button></div>`}`
  }
}
customElements.define('mill-memory', Memory)

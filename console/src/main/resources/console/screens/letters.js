// What was not taken, and why: grouped by reason, each with where it came from.
import { html, nothing } from 'lit'
import { call, get, path } from '../api.js'
import { bytes, count, exact, plain } from '../format.js'
import { Screen, asCurl, confirmed, copyButton, difference, empty, eventLink, moment, problem, say, sessionLink, taskLink } from '../ui.js'

/** So many pages of 200 are counted by reason. */
const COUNTED_PAGES = 5

class Letters extends Screen {
  static properties = { letters: { state: true }, next: { state: true }, reasons: { state: true }, whole: { state: true }, outcomes: { state: true }, drafts: { state: true }, discarded: { state: true }, redriven: { state: true }, more: { state: true } }

  #shown = null
  #known = new Map()
  originals = new Map()

  constructor() {
    super()
    this.letters = []
    this.next = null
    this.reasons = new Map()
    this.whole = new Map()
    this.outcomes = new Map()
    this.drafts = new Map()
    this.discarded = null
    this.redriven = null
    this.more = false
  }

  willUpdate(changes) {
    const wanted = `${this.query.get('reason') ?? ''} ${this.query.get('taskId') ?? ''}`
    if (changes.has('query') && wanted !== this.#shown) {
      this.#shown = wanted
      this.discarded = null
      this.redriven = null
      this.load()
      this.tally()
    }
  }

  url(cursor) {
    return path('/v1/dead-letters', { reason: this.query.get('reason'), taskId: this.query.get('taskId'), limit: 100, cursor })
  }

  async load(cursor) {
    this.loading = true
    await this.attempt(async () => {
      const page = await get(this.url(cursor), this.signal)
      this.letters = cursor ? [...this.letters, ...page.deadLetters] : page.deadLetters
      this.next = page.next
    })
    this.loading = false
  }

  /** How many there are of each reason, whichever is shown now; beyond the newest ones nobody counts. */
  async tally() {
    const reasons = new Map()
    let cursor
    try {
      for (let pages = 0; pages < COUNTED_PAGES; pages++) {
        const page = await get(path('/v1/dead-letters', { taskId: this.query.get('taskId'), limit: 200, cursor }), this.signal)
        for (const letter of page.deadLetters) reasons.set(letter.reason ?? 'unknown', (reasons.get(letter.reason ?? 'unknown') ?? 0) + 1)
        cursor = page.next
        if (!cursor) break
      }
    } catch {
      // the list itself says what is wrong
    }
    this.reasons = reasons
    this.more = !!cursor
  }

  /** Its value as it was, however long. */
  async value(letter) {
    if (this.whole.has(letter.cursor)) return this.whole.get(letter.cursor)
    const { value } = await get(`/v1/dead-letters/${letter.cursor}`, this.signal)
    this.whole = new Map(this.whole).set(letter.cursor, value ?? '')
    return value ?? ''
  }

  outcome(letter, words) {
    this.outcomes = new Map(this.outcomes).set(letter.cursor, words)
  }

  async again(letter) {
    this.outcome(letter, '…')
    try {
      await this.note(letter)
      const { json } = await call('POST', `/v1/dead-letters/${letter.cursor}/redrive`)
      await this.judged(letter, `on ${json.topic} again`)
    } catch (e) {
      this.outcome(letter, `refused: ${e.code} ${e.message}`)
    }
  }

  async ofTheSame(letter) {
    const page = await get(path('/v1/dead-letters', { limit: 50, taskId: letter.taskId })).catch(() => ({ deadLetters: [] }))
    return page.deadLetters.filter(one => one.eventId === letter.eventId)
  }

  /** Which dead letters of this event there are before it is sent again. */
  async note(letter) {
    this.#known.set(letter.cursor, new Set((await this.ofTheSame(letter)).map(one => one.cursor)))
  }

  /** The record is judged anew; what is refused a second time is a new dead letter. */
  async judged(letter, sent) {
    for (let tries = 0; tries < 8; tries++) {
      await new Promise(resolve => setTimeout(resolve, 400))
      const newer = (await this.ofTheSame(letter)).find(one => !this.#known.get(letter.cursor).has(one.cursor))
      if (newer) {
        this.outcome(letter, `refused again: ${newer.reason}`)
        return
      }
    }
    this.outcome(letter, `${sent}, and not refused within 3 s`)
    say('Sent again')
  }

  /** What the filters let through, also what is not shown. */
  get kind() {
    return { reason: this.query.get('reason'), taskId: this.query.get('taskId') ?? undefined }
  }

  /** All of a kind, page by page; answers how many there were of what each page tells. */
  async all(action, told) {
    let cursor
    do {
      const { json } = await call('POST', `/v1/dead-letters/${action}`, { body: cursor ? { ...this.kind, cursor } : this.kind })
      told(json)
      cursor = json.next
    } while (cursor)
  }

  async allOfThem() {
    const known = this.reasons.get(this.kind.reason) ?? this.letters.length
    if (!await confirmed(html`<strong>Send ${this.more ? `at least ${count(known)}` : count(known)} ${known === 1 ? 'record' : 'records'} again, all with the reason ${plain(this.kind.reason)}?</strong> Each is judged anew. What it is refused for has to be gone by now, or it comes back.`)) return
    const sum = { sent: 0, kept: 0 }
    await this.attempt(() => this.all('redrive', page => {
      sum.sent += page.redriven.length
      sum.kept += page.kept.length
      this.redriven = { ...sum }
    }))
    this.redriven = { ...sum }
    say(`${sum.sent} sent again`)
  }

  /** The same record with another payload, on the lane that it was read from. */
  async edited(letter) {
    let payload
    try {
      payload = JSON.parse(this.drafts.get(letter.cursor))
    } catch (e) {
      this.outcome(letter, `that is no JSON: ${e.message}`)
      return
    }
    this.outcome(letter, '…')
    try {
      await this.note(letter)
      const { json } = await call('POST', `/v1/dead-letters/${letter.cursor}/redrive`, { body: { payload } })
      await this.judged(letter, `as edited on ${json.topic}`)
    } catch (e) {
      this.outcome(letter, `refused: ${e.code} ${e.message}`)
    }
  }

  async edit(letter) {
    await this.attempt(async () => {
      const value = await this.value(letter)
      let text = value
      try {
        const json = JSON.parse(value)
        // an event that is whole in its value: what is edited is its data
        text = JSON.stringify(typeof json?.specversion === 'string' ? json.data ?? {} : json, null, 2)
      } catch {
        // what is no JSON is edited as it is
      }
      this.originals.set(letter.cursor, text)
      this.drafts = new Map(this.drafts).set(letter.cursor, text)
    })
  }

  leave(letter) {
    const drafts = new Map(this.drafts)
    drafts.delete(letter.cursor)
    this.drafts = drafts
  }

  async discard(letter) {
    if (!await confirmed(html`<strong>Discard this dead letter?</strong> Nothing becomes of it: nobody is shown it any more, and it can no longer be sent again.`)) return
    try {
      await call('POST', `/v1/dead-letters/${letter.cursor}/discard`)
      this.letters = this.letters.filter(one => one.cursor !== letter.cursor)
      say('Discarded')
    } catch (e) {
      this.outcome(letter, `refused: ${e.code} ${e.message}`)
    }
  }

  async discardAll() {
    const shown = this.letters
    if (!await confirmed(html`<strong>Discard ${this.next ? `more than ${count(shown.length)}` : count(shown.length)} dead ${shown.length === 1 ? 'letter' : 'letters'}, all with the reason ${plain(this.kind.reason)}?</strong> Nobody is shown them any more, and none can be sent again.
      <ul class="preview">${shown.slice(0, 5).map(letter => html`<li>${plain(letter.type ?? '')} ${plain(letter.detail ?? '')}</li>`)}${shown.length > 5 ? html`<li>and ${count(shown.length - 5)} more${this.next ? ', at least' : ''}</li>` : nothing}</ul>`)) return
    let gone = 0
    await this.attempt(() => this.all('discard', page => {
      gone += page.discarded.length
      this.discarded = gone
    }))
    this.discarded = gone
    say(`${gone} discarded`)
    const failed = this.problem
    await Promise.all([this.load(), this.tally()])
    this.problem ??= failed
  }

  render() {
    const reason = this.query.get('reason')
    return html`<div class="head"><h1>Dead letters</h1><span class="faint">records that could not be read or were not taken</span></div>
      ${problem(this.problem)}
      ${this.reasons.size ? html`<div class="chips" role="group" aria-label="Reason"><button type="button" aria-pressed=${!reason} @click=${() => this.filter({ reason: null })}>all</button>
        ${[...this.reasons].map(([name, times]) => html`<button type="button" aria-pressed=${reason === name} @click=${() => this.filter({ reason: reason === name ? null : name })}>${plain(name)} <span class="tally">${count(times)}${this.more ? '+' : ''}</span></button>`)}${this.query.get('taskId') ? html`<button type="button" @click=${() => this.filter({ taskId: null })}>of one task: all tasks</button>` : nothing}</div>` : nothing}
      ${reason && this.letters.length ? html`<div class="bulk"><button type="button" @click=${() => this.allOfThem()}>Send all of this reason again…</button>
        <button type="button" class="danger" @click=${() => this.discardAll()}>Discard all of this reason…</button></div>` : nothing}
      ${this.discarded === null ? nothing : html`<p class="outcome-line" role="status">${count(this.discarded)} discarded.</p>`}
      ${this.redriven === null ? nothing : html`<p class="outcome-line" role="status">${count(this.redriven.sent)} sent again; what is refused once more comes back as a new dead letter.${this.redriven.kept ? ` ${count(this.redriven.kept)} cannot be sent: they were on no lane, or were not kept.` : ''}</p>`}
      ${this.letters.length ? html`<ul class="plain letters">${this.letters.map(letter => html`<li class="row"><details><summary><strong>${plain(letter.reason ?? 'unknown')}</strong> <span class="type">${plain(letter.type ?? '')}</span> <span class="faint">${moment(letter.timestamp, this.now)}</span> ${plain(letter.detail ?? '')}</summary>
        <dl class="facts"><dt>When</dt><dd>${exact(letter.timestamp)}</dd><dt>From</dt><dd>${plain(letter.originTopic ?? 'unknown')}${letter.originPartition ? `, partition ${plain(letter.originPartition)}, offset ${plain(letter.originOffset ?? '')}` : ''}</dd>
          ${letter.taskId ? html`<dt>Task</dt><dd>${taskLink(letter.taskId)}</dd>` : nothing}${letter.sessionId ? html`<dt>Session</dt><dd>${sessionLink(letter.sessionId)}</dd>` : nothing}${letter.eventId ? html`<dt>Event</dt><dd>${eventLink(letter.eventId)}</dd>` : nothing}
          ${letter.key ? html`<dt>Key</dt><dd>${plain(letter.key)}</dd>` : nothing}<dt>Size</dt><dd>${bytes(letter.valueBytes)}</dd></dl>
        ${this.drafts.has(letter.cursor)
          ? html`<label class="stack"><span>Payload as JSON</span><textarea class="code" rows="8" spellcheck="false" .value=${this.drafts.get(letter.cursor)} @input=${event => { this.drafts = new Map(this.drafts).set(letter.cursor, event.target.value) }}></textarea></label>
            <p class="faint">What changes:</p>${difference(this.originals.get(letter.cursor) ?? '', this.drafts.get(letter.cursor), 'What changes')}`
          : html`<pre class="json" tabindex="0">${plain(this.whole.get(letter.cursor) ?? letter.value ?? '')}</pre>`}
        <div class="actions">${this.drafts.has(letter.cursor)
          ? html`<button type="button" class="primary" @click=${() => this.edited(letter)}>Send as edited</button><button type="button" @click=${() => this.leave(letter)}>Leave it as it was</button>`
          : html`<button type="button" class="primary" @click=${() => this.again(letter)}>Send again</button>${letter.type ? html`<button type="button" @click=${() => this.edit(letter)}>Edit first</button>` : nothing}
            ${letter.valueBytes > (letter.value ?? '').length && !this.whole.has(letter.cursor) ? html`<button type="button" @click=${() => this.attempt(() => this.value(letter))}>Whole value</button>` : nothing}
            ${letter.value ? copyButton(this.whole.get(letter.cursor) ?? letter.value, 'Copy the value') : nothing}
            <button type="button" class="danger" @click=${() => this.discard(letter)}>Discard…</button>`}
        </div></details>${this.outcomes.has(letter.cursor) ? html`<p class="outcome-line" role="status">${plain(this.outcomes.get(letter.cursor))}</p>` : nothing}</li>`)}</ul>`
        : this.loading ? html`<p class="faint">Loading…</p>` : empty('Everything that came was taken.')}
      ${this.next ? html`<button type="button" class="more" @click=${() => this.load(this.next)}>Older ones</button>` : nothing}
      ${asCurl('GET', this.url())}`
  }
}
customElements.define('mill-letters', Letters)

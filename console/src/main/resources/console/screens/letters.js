// What was not taken, and why: grouped by reason, each with where it came from.
import { html, nothing } from 'lit'
import { get, path } from '../api.js'
import { bytes, count, exact, plain } from '../format.js'
import { Screen, asCurl, copyButton, empty, eventLink, moment, problem, sessionLink, taskLink } from '../ui.js'

class Letters extends Screen {
  static properties = { letters: { state: true }, next: { state: true }, reasons: { state: true } }

  #shown = null

  constructor() {
    super()
    this.letters = []
    this.next = null
    this.reasons = new Map()
  }

  willUpdate(changes) {
    const wanted = `${this.query.get('reason') ?? ''} ${this.query.get('taskId') ?? ''}`
    if (changes.has('query') && wanted !== this.#shown) {
      this.#shown = wanted
      this.load()
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
      if (!this.query.get('reason')) {
        const reasons = new Map()
        for (const letter of this.letters) reasons.set(letter.reason ?? 'unknown', (reasons.get(letter.reason ?? 'unknown') ?? 0) + 1)
        this.reasons = reasons
      }
    })
    this.loading = false
  }

  render() {
    const reason = this.query.get('reason')
    return html`<div class="head"><h1>Dead letters</h1><span class="faint">records that could not be read or were not taken</span></div>
      ${problem(this.problem)}
      ${this.reasons.size ? html`<div class="chips" role="group" aria-label="Reason"><button type="button" aria-pressed=${!reason} @click=${() => this.filter({ reason: null })}>all</button>
        ${[...this.reasons].map(([name, times]) => html`<button type="button" aria-pressed=${reason === name} @click=${() => this.filter({ reason: reason === name ? null : name })}>${plain(name)} <span class="tally">${count(times)}</span></button>`)}</div>` : nothing}
      ${this.letters.length ? html`<ul class="plain letters">${this.letters.map(letter => html`<li class="row"><details><summary><strong>${plain(letter.reason ?? 'unknown')}</strong> <span class="type">${plain(letter.type ?? '')}</span> <span class="faint">${moment(letter.timestamp, this.now)}</span> ${plain(letter.detail ?? '')}</summary>
        <dl class="facts"><dt>When</dt><dd>${exact(letter.timestamp)}</dd><dt>From</dt><dd>${plain(letter.originTopic ?? 'unknown')}${letter.originPartition ? `, partition ${plain(letter.originPartition)}, offset ${plain(letter.originOffset ?? '')}` : ''}</dd>
          ${letter.taskId ? html`<dt>Task</dt><dd>${taskLink(letter.taskId)}</dd>` : nothing}${letter.sessionId ? html`<dt>Session</dt><dd>${sessionLink(letter.sessionId)}</dd>` : nothing}${letter.eventId ? html`<dt>Event</dt><dd>${eventLink(letter.eventId)}</dd>` : nothing}
          ${letter.key ? html`<dt>Key</dt><dd>${plain(letter.key)}</dd>` : nothing}<dt>Size</dt><dd>${bytes(letter.valueBytes)}</dd></dl>
        <pre class="json" tabindex="0">${plain(letter.value ?? '')}</pre>${letter.value ? copyButton(letter.value, 'Copy the value') : nothing}</details></li>`)}</ul>`
        : this.loading ? html`<p class="faint">Loading…</p>` : empty('Everything that came was taken.')}
      ${this.next ? html`<button type="button" class="more" @click=${() => this.load(this.next)}>Older ones</button>` : nothing}
      ${asCurl('GET', this.url())}`
  }
}
customElements.define('mill-letters', Letters)

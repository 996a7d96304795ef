// What model calls have used: bars by hour or day, and the same as a table. What has no price is said apart.
import { html, svg, nothing } from 'lit'
import { get, scoped } from '../api.js'
import { costOf, count, plain, shortId } from '../format.js'
import { Screen, asCurl, at, empty, problem, sessionLink, taskLink } from '../ui.js'

const SPANS = { '24h': ['hour', 24 * 3_600_000], '7d': ['day', 7 * 86_400_000], '30d': ['day', 30 * 86_400_000] }
const BY = ['model', 'agent', 'sessionId', 'taskId']
/** The others of these go into one. */
const SHOWN = 6
const FILTERS = ['agent', 'model', 'sessionId', 'taskId']
const WORDS = { model: 'model', agent: 'agent', sessionId: 'session', taskId: 'task' }

class Usage extends Screen {
  static properties = { answer: { state: true }, series: { state: true } }

  #shown = ''

  constructor() {
    super()
    this.answer = null
    this.series = []
  }

  willUpdate(changes) {
    if (changes.has('query')) {
      const wanted = this.url(this.by)
      if (wanted !== this.#shown) {
        this.#shown = wanted
        this.load()
      }
    }
  }

  get span() {
    return SPANS[this.query.get('span')] ? this.query.get('span') : '24h'
  }

  get by() {
    return BY.includes(this.query.get('by')) ? this.query.get('by') : 'model'
  }

  url(groupBy) {
    const from = new Date(Math.floor((Date.now() - SPANS[this.span][1]) / 3_600_000) * 3_600_000).toISOString()
    return scoped('/v1/usage', { ...this.filters, from, groupBy })
  }

  get filters() {
    return Object.fromEntries(FILTERS.map(name => [name, this.query.get(name)]).filter(([, value]) => value))
  }

  async load() {
    await this.attempt(async () => {
      const [groups, series] = await Promise.all([get(this.url(this.by), this.signal), get(this.url(`${SPANS[this.span][0]},${this.by}`), this.signal)])
      this.answer = groups
      this.series = series.groups ?? []
    })
  }

  csv() {
    const names = ['calls', 'failedCalls', 'abandonedCalls', 'requests', 'inputTokens', 'outputTokens', 'cachedInputTokens', 'reasoningTokens', 'costMicros', 'callsWithoutPrice']
    // a cell that begins like a formula is one to a spreadsheet
    const cell = value => `"${String(value ?? '').replaceAll('"', '""').replace(/^[=+\-@\t\r]/, "'$&")}"`
    const text = [[this.by, ...names].join(','), ...(this.answer.groups ?? []).map(group => [cell(group[this.by]), ...names.map(name => group[name])].join(','))].join('\n')
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
    link.download = `usage-by-${WORDS[this.by]}.csv`
    link.click()
    URL.revokeObjectURL(link.href)
  }

  render() {
    const total = this.answer?.total
    const groups = [...(this.answer?.groups ?? [])].sort((a, b) => b.costMicros - a.costMicros || b.inputTokens - a.inputTokens)
    return html`<div class="head"><h1>Usage</h1></div>
      <div class="filters"><label><span>In the last</span><select @change=${event => this.filter({ span: event.target.value })}>${Object.keys(SPANS).map(span => html`<option value=${span} ?selected=${span === this.span}>${span}</option>`)}</select></label>
        <label><span>By</span><select @change=${event => this.filter({ by: event.target.value })}>${BY.map(by => html`<option value=${by} ?selected=${by === this.by}>${WORDS[by]}</option>`)}</select></label>
        ${FILTERS.map(name => html`<label><span>Only ${WORDS[name]}</span><input type="search" .value=${this.query.get(name) ?? ''} @change=${event => this.filter({ [name]: event.target.value.trim() })}></label>`)}
        ${groups.length ? html`<button type="button" @click=${() => this.csv()}>Save as CSV</button>` : nothing}</div>
      ${problem(this.problem)}
      ${total ? html`<dl class="sums"><div><dt>Cost</dt><dd>${costOf(total)}${total.callsWithoutPrice ? html` <span class="faint">and ${count(total.callsWithoutPrice)} calls without a price</span>` : nothing}</dd></div>
        <div><dt>Calls</dt><dd>${count(total.calls)}${total.failedCalls ? html` <span class="error">${count(total.failedCalls)} failed</span>` : nothing}${total.abandonedCalls ? html` <span class="faint">${count(total.abandonedCalls)} cut off</span>` : nothing}</dd></div>
        <div><dt>Tokens read</dt><dd>${count(total.inputTokens)}${total.cachedInputTokens ? html` <span class="faint">${count(total.cachedInputTokens)} cached</span>` : nothing}</dd></div>
        <div><dt>Tokens written</dt><dd>${count(total.outputTokens)}${total.reasoningTokens ? html` <span class="faint">${count(total.reasoningTokens)} reasoning</span>` : nothing}</dd></div></dl>` : nothing}
      ${this.chart()}
      ${groups.length ? html`<div class="scroll"><table class="list"><thead><tr><th scope="col">${WORDS[this.by]}</th><th scope="col" class="num">Calls</th><th scope="col" class="num">Failed</th><th scope="col" class="num">Read</th><th scope="col" class="num">Written</th><th scope="col" class="num">Cost</th><th scope="col" class="num">Without price</th></tr></thead>
        <tbody>${groups.map(group => html`<tr class="row"><td>${this.name(group)}</td><td class="num">${count(group.calls)}</td><td class="num">${count(group.failedCalls)}</td><td class="num">${count(group.inputTokens)}</td><td class="num">${count(group.outputTokens)}</td><td class="num">${costOf(group)}</td><td class="num">${count(group.callsWithoutPrice)}</td></tr>`)}</tbody></table></div>`
        : this.answer ? empty('No model was called in this time.') : nothing}
      ${asCurl('GET', this.url(this.by))}`
  }

  name(group) {
    const value = group[this.by]
    if (value == null) return html`<span class="faint">none</span>`
    return this.by === 'taskId' ? taskLink(value) : this.by === 'sessionId' ? sessionLink(value)
      : this.by === 'agent' ? html`<a href=${at(`/agents/${encodeURIComponent(value)}`)}>${plain(value)}</a>` : plain(value)
  }

  /** Tokens by time, stacked by what they are grouped by; below, the calls that failed and those without a price. */
  chart() {
    const unit = SPANS[this.span][0]
    const columns = new Map()
    const sums = new Map()
    for (const row of this.series) {
      const name = row[this.by] ?? 'none'
      if (!columns.has(row[unit])) columns.set(row[unit], [])
      columns.get(row[unit]).push({ ...row, name, tokens: row.inputTokens + row.outputTokens })
      sums.set(name, (sums.get(name) ?? 0) + row.inputTokens + row.outputTokens)
    }
    if (!columns.size) return nothing
    const names = [...sums].sort((a, b) => b[1] - a[1]).map(([name]) => name)
    const shown = names.slice(0, SHOWN)
    const place = name => (shown.includes(name) ? shown.indexOf(name) : SHOWN)
    const label = name => (this.by === 'taskId' || this.by === 'sessionId' ? shortId(name) : name)
    const times = [...columns.keys()].sort((a, b) => String(a).localeCompare(String(b)))
    const most = Math.max(1, ...times.map(time => columns.get(time).reduce((sum, row) => sum + row.tokens, 0)))
    const calls = Math.max(1, ...times.map(time => columns.get(time).reduce((sum, row) => sum + row.failedCalls + row.callsWithoutPrice, 0)))
    const width = 1000 / Math.max(times.length, 12)
    const bar = (at, kind, top, height, words) => svg`<rect class=${kind} x=${at * width + 1} y=${top} width=${width - 2} height=${height}><title>${words}</title></rect>`
    const odd = times.some(time => columns.get(time).some(row => row.failedCalls || row.callsWithoutPrice))
    return html`<figure class="chart"><figcaption>Tokens by ${unit} and ${WORDS[this.by]}, at most ${count(most)}</figcaption>
      <svg viewBox="0 0 1000 120" preserveAspectRatio="none" role="img" aria-label="Tokens by ${unit} and ${WORDS[this.by]}; the table below has the sums">${times.map((time, at) => {
        let top = 118
        return columns.get(time).toSorted((a, b) => place(a.name) - place(b.name)).map(row => {
          const height = row.tokens / most * 116
          top -= height
          return bar(at, `s${place(row.name)}`, top, height, `${time} ${row.name}: ${row.inputTokens} read, ${row.outputTokens} written, ${costOf(row)}`)
        })
      })}</svg>
      <div class="faint legend">${shown.map((name, at) => html`<span class="s${at}">${plain(label(name))}</span>`)}${names.length > SHOWN ? html`<span class="s${SHOWN}">${names.length - SHOWN} others</span>` : nothing}<span>${times[0]} to ${times.at(-1)}</span></div>
      ${odd ? html`<div class="faint">Calls that failed, and calls without a price, at most ${count(calls)}</div>
        <svg class="low" viewBox="0 0 1000 40" preserveAspectRatio="none" role="img" aria-label="Calls that failed and calls without a price, by ${unit}; the table below has the sums">${times.map((time, at) => {
          const failed = columns.get(time).reduce((sum, row) => sum + row.failedCalls, 0)
          const unpriced = columns.get(time).reduce((sum, row) => sum + row.callsWithoutPrice, 0)
          return [bar(at, 'failed', 39 - failed / calls * 38, failed / calls * 38, `${time}: ${failed} failed`),
            bar(at, 'unpriced', 39 - (failed + unpriced) / calls * 38, unpriced / calls * 38, `${time}: ${unpriced} without a price`)]
        })}</svg>
        <div class="faint legend"><span class="failed">failed</span><span class="unpriced">without a price</span></div>` : nothing}</figure>`
  }
}
customElements.define('mill-usage', Usage)

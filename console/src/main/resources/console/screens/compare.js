// Two tasks side by side, such as a task and its fork.
import { html, nothing } from 'lit'
import { get, scoped } from '../api.js'
import { cost, count, duration, line, plain } from '../format.js'
import { markdown } from '../markdown.js'
import { spans } from '../story.js'
import { Screen, asCurl, difference, eventLink, moment, problem, stateMark, taskLink } from '../ui.js'

const ENDED = ['completed', 'failed', 'cancelled']
const PAGE = 500
const MOST = 2000

class Compare extends Screen {
  static properties = { sides: { state: true } }

  #timer = 0

  constructor() {
    super()
    this.sides = []
  }

  connectedCallback() {
    super.connectedCallback()
    this.load()
  }

  disconnectedCallback() {
    super.disconnectedCallback()
    clearTimeout(this.#timer)
  }

  async side(taskId) {
    const path = `/v1/tasks/${encodeURIComponent(taskId)}`
    const task = await get(scoped(path), this.signal)
    const events = []
    let after
    do {
      const page = await get(scoped(`${path}/events`, { limit: PAGE, after }), this.signal)
      events.push(...page.events)
      after = page.next
    } while (after && events.length < MOST)
    return { task, events, spans: spans(events) }
  }

  async load() {
    await this.attempt(async () => {
      this.sides = await Promise.all([this.side(this.params.taskId), this.side(this.params.otherId)])
    })
    this.loading = false
    // asked for, not streamed: two streams would be two connections
    const running = this.sides.some(side => !ENDED.includes(side.task.state))
    if (this.isConnected && (running || !this.sides.length) && this.problem?.status !== 404) this.#timer = setTimeout(() => this.load(), document.hidden ? 5000 : 1000)
  }

  figures({ task, spans: done }) {
    const sum = name => done.reduce((all, span) => all + (span.usage?.[name] ?? 0), 0)
    const priced = done.filter(span => span.usage).every(span => span.usage.costMicros != null)
    return {
      State: stateMark(task.state),
      Agent: html`${plain(task.agent ?? task.taskType)}${task.agentVersion ? html` <span class="faint">${plain(task.agentVersion)}</span>` : nothing}`,
      'Model calls': count(done.filter(span => span.kind === 'model').length),
      'Tool calls': count(done.filter(span => span.kind === 'tool').length),
      Tokens: `${count(sum('inputTokens'))} + ${count(sum('outputTokens'))}`,
      Cost: cost(priced ? sum('costMicros') : null),
      Took: duration((ENDED.includes(task.state) ? task.updatedAt : this.now) - task.createdAt),
    }
  }

  render() {
    if (this.sides.length < 2) return html`<h1>Compare</h1>${problem(this.problem)}${this.loading ? html`<p class="faint">Loading…</p>` : nothing}`
    const [one, other] = this.sides
    const from = other.task.forkedFrom
    const fork = from?.taskId === one.task.taskId
    const figures = this.sides.map(side => this.figures(side))
    const answers = this.sides.map(({ task }) => task.response ?? task.error ?? '')
    return html`<div class="head"><h1>${fork ? 'A task and its fork' : 'Two tasks'}</h1></div>
      ${problem(this.problem)}
      ${fork ? html`<p class="faint">The same up to ${eventLink(from.eventId, 'this event')}; from there each by itself.</p>` : nothing}
      <div class="compare">${this.sides.map((side, index) => html`<section aria-label=${index ? 'The other' : 'The one'}>
        <h2>${fork ? (index ? 'Fork' : 'Origin') : index ? 'The other' : 'The one'} ${taskLink(side.task.taskId)}</h2>
        <p class="asked">${plain(line(side.task.inputText, 400))}</p>
        <p class="faint">begun ${moment(side.task.createdAt, this.now)}</p>
        ${side.task.waitingFor ? html`<p class="note">Waits for ${plain(side.task.waitingFor.kind)}</p>` : nothing}
        ${side.task.state === 'failed' ? html`<div class="failure"><strong>${plain(side.task.errorCode ?? 'failed')}</strong><pre tabindex="0">${plain(side.task.error ?? '')}</pre></div>` : nothing}
        ${side.task.response ? html`<div class="answer-box">${markdown(side.task.response)}</div>` : nothing}
        <h3>What it did</h3>
        <ol class="plain">${side.spans.filter(span => span.kind !== 'wait').map(span => html`<li><span class="kind ${span.kind}">${span.kind}</span> ${eventLink(span.event, html`${plain(span.name)}`)} <span class="faint">${span.end ? duration(span.end - span.start) : '…'}</span>${span.ok === false ? html` <span class="error">✕ ${plain(span.code ?? span.note ?? 'failed')}</span>` : nothing}</li>`)}</ol>
      </section>`)}</div>
      <div class="scroll"><table class="list"><caption>In figures</caption><thead><tr><td></td><th scope="col">${fork ? 'Origin' : 'The one'}</th><th scope="col">${fork ? 'Fork' : 'The other'}</th></tr></thead>
        <tbody>${Object.keys(figures[0]).map(name => html`<tr><th scope="row">${name}</th><td>${figures[0][name]}</td><td>${figures[1][name]}</td></tr>`)}</tbody></table></div>
      ${answers[0] && answers[1] ? html`<details open><summary>How the answers differ</summary>${answers[0] === answers[1] ? html`<p class="faint">They are the same.</p>` : difference(answers[0], answers[1], 'How the answers differ')}</details>` : nothing}
      ${asCurl('GET', scoped(`/v1/tasks/${encodeURIComponent(this.params.otherId)}`))}`
  }
}
customElements.define('mill-compare', Compare)

// A conversation: what people say, what agents answer as they say it, what they do for it, and what they ask.
import { html, nothing } from 'lit'
import { repeat } from 'lit/directives/repeat.js'
import { call, get, scoped, Live } from '../api.js'
import { cost, count, duration, freshId, line, plain } from '../format.js'
import { markdown } from '../markdown.js'
import { Turn } from '../story.js'
import { Screen, asCurl, at, go, moment, problem, raw, say, sessionLink, stateMark, taskLink } from '../ui.js'

/** So many turns are shown first; the ones before come on request. */
const TURNS = 15
const ENDED = ['completed', 'failed', 'cancelled']

class Chat extends Screen {
  static properties = { turns: { state: true }, older: { state: true }, agents: { state: true }, models: { state: true }, tools: { state: true }, sending: { state: true }, below: { state: true }, lost: { state: true }, sessions: { state: true }, participants: { state: true }, scripted: { state: true } }

  #live = null
  #liveOf = null
  #frame = 0
  #poll = 0
  #follow = true
  #scrolled = () => { this.#follow = innerHeight + scrollY > document.documentElement.scrollHeight - 120 }

  constructor() {
    super()
    this.turns = []
    this.older = null
    this.agents = []
    this.models = []
    this.participants = []
    this.tools = new Map()
    this.sending = false
    this.below = []
    this.lost = false
    this.sessions = []
    this.scripted = false
  }

  /** Models that agents have, or that have answered in the last month. */
  async known() {
    const from = new Date(Math.floor((Date.now() - 30 * 86_400_000) / 3_600_000) * 3_600_000).toISOString()
    const [agents, used] = await Promise.all([
      get('/v1/agents', this.signal).then(all => all.agents.map(agent => agent.model)).catch(() => []),
      get(scoped('/v1/usage', { groupBy: 'model', from }), this.signal).then(all => all.groups.map(group => group.model)).catch(() => []),
    ])
    this.models = [...new Set([...agents, ...used].filter(Boolean))].sort()
  }

  get sessionId() {
    return this.params.sessionId
  }

  connectedCallback() {
    super.connectedCallback()
    addEventListener('scroll', this.#scrolled, { passive: true })
    this.attempt(async () => {
      const [agents, tools] = await Promise.all([get('/v1/agents', this.signal), get('/v1/tools', this.signal)])
      this.agents = agents.agents
      this.tools = new Map(tools.tools.map(tool => [tool.name, tool]))
    })
    this.known()
    if (this.sessionId) {
      this.load()
      this.taking()
    }
    else {
      this.loading = false
      this.recent()
    }
    this.tick()
  }

  /** Who takes part, if several do: then whoever is mentioned has the word. */
  async taking() {
    try {
      this.participants = (await get(scoped(`/v1/sessions/${encodeURIComponent(this.sessionId)}`), this.signal)).participants ?? []
    } catch {
      // nobody knows the conversation yet
    }
  }

  disconnectedCallback() {
    super.disconnectedCallback()
    removeEventListener('scroll', this.#scrolled)
    this.#live?.close()
    this.#liveOf = null
    clearTimeout(this.#poll)
    cancelAnimationFrame(this.#frame)
  }

  /** Looks for tasks of this conversation that were begun elsewhere; sooner while there is none at all. */
  tick() {
    this.#poll = setTimeout(async () => {
      if (!document.hidden && this.sessionId && !this.loading) await this.newer()
      if (this.isConnected) this.tick()
    }, this.turns.length ? 3000 : 500)
  }

  async load(cursor) {
    await this.attempt(async () => {
      const page = await get(scoped('/v1/tasks', { sessionId: this.sessionId, limit: TURNS, cursor }), this.signal)
      const turns = page.tasks.toReversed().map(task => new Turn(task.taskId))
      this.older = page.next
      this.turns = [...turns, ...this.turns]
      await Promise.all(turns.map(turn => this.fill(turn)))
      this.requestUpdate()
      this.listen()
    })
    this.loading = false
  }

  /** Conversations to go on with. */
  async recent() {
    try {
      const page = await get(scoped('/v1/tasks', { limit: 100 }), this.signal)
      const seen = new Map()
      for (const task of page.tasks) if (task.sessionId && !task.parentTaskId && !seen.has(task.sessionId)) seen.set(task.sessionId, task)
      this.sessions = [...seen.values()].slice(0, 12)
    } catch {
      // a new conversation needs none of them
    }
  }

  async fill(turn) {
    let after
    do {
      const page = await get(scoped(`/v1/tasks/${encodeURIComponent(turn.taskId)}/events`, { limit: 500, after }), this.signal)
      page.events.forEach(event => turn.add(event))
      after = page.next
    } while (after)
    this.note(turn)
  }

  async newer() {
    try {
      const page = await get(scoped('/v1/tasks', { sessionId: this.sessionId, limit: TURNS }), this.signal)
      const fresh = page.tasks.toReversed().filter(task => !this.turns.some(turn => turn.taskId === task.taskId)).map(task => new Turn(task.taskId))
      if (fresh.length) {
        await Promise.all(fresh.map(turn => this.fill(turn)))
        this.turns = [...this.turns, ...fresh.filter(turn => !this.turns.some(one => one.taskId === turn.taskId))]
      }
      // a task that ended goes on if it is given more to do
      for (const turn of this.turns.slice(-3)) if (turn.ended && page.tasks.some(task => task.taskId === turn.taskId && !ENDED.includes(task.state))) await this.fill(turn)
      this.listen()
      await this.under()
    } catch {
      // the next time
    }
  }

  /** What sub-tasks of the turn that works ask a person: it is decided here like the turn's own. */
  async under() {
    const turn = this.turns.findLast(one => !one.ended)
    if (!turn) {
      if (this.below.length) this.below = []
      return
    }
    const found = []
    let parents = [turn.taskId]
    for (let depth = 0; depth < 4 && parents.length; depth++) {
      const levels = await Promise.all(parents.slice(0, 20).map(parentTaskId => get(scoped('/v1/tasks', { parentTaskId, limit: 100 }), this.signal)))
      const children = levels.flatMap(level => level.tasks)
      parents = children.filter(child => !ENDED.includes(child.state)).map(child => child.taskId)
      for (const child of children) {
        if (child.waitingFor?.kind === 'approval') {
          const open = await get(scoped('/v1/approvals', { taskId: child.taskId, limit: 50 }), this.signal)
          found.push(...open.approvals.map(approval => ({ key: approval.callId, approval, child })))
        } else if (child.waitingFor?.kind === 'answer') found.push({ key: child.taskId, question: child.question, child })
      }
    }
    this.below = found
  }

  /** One stream at a time: that of the newest turn that has not ended. It begins with the turn's first event. */
  listen() {
    const turn = this.turns.findLast(one => !one.ended)
    if (turn?.taskId === this.#liveOf) return
    this.#live?.close()
    this.#liveOf = turn?.taskId ?? null
    if (!turn) return
    this.#live = new Live(scoped(`/v1/tasks/${encodeURIComponent(turn.taskId)}/stream`, { tokens: 'stream' }), {
      event: (type, event) => {
        if (type.startsWith('stream.')) turn.hear(type, event)
        else if (turn.add(event)) this.note(turn)
        if (turn.ended) {
          say(`The answer is there: ${turn.ended}`)
          this.#live?.close()
          this.#liveOf = null
          this.newer()
        }
        this.draw()
      },
      state: state => {
        this.lost = state === 'lost'
        // an end that is known, or a task that is gone: there is nothing to be live about
        if (state === 'over') this.fill(turn).then(() => { this.#liveOf = null; this.listen(); this.draw() })
      },
    })
  }

  note(turn) {
    if (turn.model.startsWith('scripted')) this.scripted = true
  }

  /** At most once a frame, however fast a model talks. */
  draw() {
    this.#frame ||= requestAnimationFrame(async () => {
      this.#frame = 0
      const follow = this.#follow
      this.requestUpdate()
      await this.updateComplete
      if (follow) scrollTo(0, document.documentElement.scrollHeight)
    })
  }

  async send(event) {
    event.preventDefault()
    const form = this.querySelector('form.say')
    const field = form.querySelector('textarea')
    const text = field.value.trim()
    if (!text || this.sending) return
    this.sending = true
    await this.attempt(async () => {
      const sessionId = this.sessionId ?? `chat-${freshId()}`
      const body = { text, sessionId }
      const agent = form.querySelector('select').value
      const model = form.querySelector('input.model').value.trim()
      if (agent) body.agent = agent
      if (model) body.model = model
      const accepted = (await call('POST', '/v1/tasks', { body: this.query.get('namespace') ? { ...body, namespace: this.query.get('namespace') } : body })).json
      field.value = ''
      say('Sent')
      if (!this.sessionId) {
        go(at(`/sessions/${encodeURIComponent(sessionId)}`, { agent: agent || undefined }), true)
        return
      }
      this.#follow = true
      if (!this.turns.some(turn => turn.taskId === accepted.taskId)) this.turns = [...this.turns, new Turn(accepted.taskId)]
      this.listen()
      this.draw()
    })
    this.sending = false
  }

  async stop() {
    const turn = this.turns.findLast(one => !one.ended)
    if (!turn) return
    await this.attempt(async () => {
      await call('POST', scoped(`/v1/tasks/${encodeURIComponent(turn.taskId)}/cancel`), { body: { reason: 'stopped in the console' } })
      turn.asked = true
      say('Asked to stop')
      this.requestUpdate()
    })
  }

  render() {
    const working = this.turns.findLast(turn => !turn.ended)
    const asked = this.query.get('agent') ?? this.turns.at(-1)?.agent ?? ''
    const several = this.participants.length > 0
    const agent = several ? '' : asked || 'general'
    return html`
      <div class="head"><h1>${this.sessionId ? 'Chat' : 'New chat'}</h1>
        ${this.sessionId ? html`<span class="faint id">${plain(this.sessionId)}</span> <a class="button" href=${at('/chat')}>New chat</a> <a class="button" href=${at('/tasks', { sessionId: this.sessionId })}>Its tasks</a>` : nothing}
        ${several ? html`<span class="faint">between ${plain(this.participants.join(', '))}</span>` : nothing}
        ${this.lost ? html`<span class="faint" role="status">not live now, trying again</span>` : nothing}</div>
      ${this.scripted ? html`<p class="note">A scripted model answers here, not a real one. With <code>ANTHROPIC_API_KEY</code>, <code>OPENAI_API_KEY</code>, <code>GEMINI_API_KEY</code> or <code>OLLAMA_BASE_URL</code> set, that provider does.</p>` : nothing}
      ${this.older ? html`<button type="button" class="more" @click=${() => this.load(this.older)}>Earlier turns</button>` : nothing}
      <div class="chat">${repeat(this.turns, turn => turn.taskId, turn => this.turn(turn))}
        ${repeat(this.below, one => one.key, one => html`<section class="ask" aria-label="A sub-task asks"><h2>The sub-task ${taskLink(one.child.taskId, html`${plain(line(one.child.inputText, 60))}`)} ${one.approval ? html`wants to run ${plain(one.approval.toolName)}` : 'asks'}</h2>
          ${one.approval ? html`<mill-decision .approval=${one.approval} .schema=${this.tools.get(one.approval.toolName)?.parameters} @decided=${() => setTimeout(() => this.under(), 500)}></mill-decision>`
            : html`<p class="question">${plain(one.question ?? '')}</p><mill-answer .taskId=${one.child.taskId} @answered=${() => setTimeout(() => this.under(), 500)}></mill-answer>`}</section>`)}
      </div>
      ${!this.sessionId && this.sessions.length ? html`<section aria-label="Conversations"><h2>Go on with</h2><ul class="plain">${this.sessions.map(task => html`<li class="row">${stateMark(task.state)} <a class="main" href=${at(`/sessions/${encodeURIComponent(task.sessionId)}`)}>${plain(line(task.inputText, 80))}</a> <span class="faint">${moment(task.createdAt, this.now)} · ${sessionLink(task.sessionId)}</span></li>`)}</ul></section>` : nothing}
      ${problem(this.problem)}
      <form class="say" @submit=${this.send}>
        <label class="stack grow"><span class="hidden">What is to be done</span><textarea rows="2" maxlength="100000" required placeholder=${working ? 'It works; what you say now comes after' : 'What is to be done?'}
          @keydown=${event => event.key === 'Enter' && !event.shiftKey && !event.isComposing && (event.preventDefault(), this.querySelector('form.say').requestSubmit())}></textarea></label>
        <div class="actions">
          <label><span>Agent</span><select>${several ? html`<option value="" selected>whoever is mentioned</option>` : nothing}${this.agents.length ? this.agents.map(one => html`<option value=${one.name} ?selected=${one.name === agent}>${plain(one.name)}</option>`) : html`<option value=${asked}>${plain(asked || 'default')}</option>`}</select></label>
          <label><span>Model</span><input class="model" type="text" maxlength="256" placeholder="the agent’s own" list="models"></label><datalist id="models">${this.models.map(model => html`<option value=${model}></option>`)}</datalist>
          <button class="primary" ?disabled=${this.sending}>Send</button>
          ${working ? html`<button type="button" class="danger" ?disabled=${working.asked} @click=${() => this.stop()}>${working.asked ? 'Stopping…' : 'Stop'}</button>` : nothing}
        </div>
      </form>
      ${asCurl('POST', '/v1/tasks', { text: '…', sessionId: this.sessionId, agent: agent || undefined })}`
  }

  turn(turn) {
    return html`<article class="turn" aria-label="Turn">
      ${repeat(turn.blocks, block => `${block.kind} ${block.id}`, block => this.block(turn, block))}
      ${turn.error ? html`<div class="failure" role="alert"><strong>${plain(turn.error.code)}</strong><pre tabindex="0">${plain(turn.error.text)}</pre></div>` : nothing}
      ${turn.ended === 'cancelled' ? html`<p class="note">Cancelled${turn.reason ? html`: ${plain(turn.reason)}` : nothing}</p>` : nothing}
      <footer class="faint">${stateMark(turn.ended ?? turn.state)} ${taskLink(turn.taskId, 'open as task')}
        ${turn.agent ? html` · ${plain(turn.agent)}` : nothing}${turn.model ? html` · ${plain(turn.model)}` : nothing}
        ${turn.usage.calls ? html` · ${turn.usage.calls} model ${turn.usage.calls === 1 ? 'call' : 'calls'} · ${count(turn.usage.inputTokens)} + ${count(turn.usage.outputTokens)} tokens · ${turn.usage.priced ? cost(turn.usage.costMicros) : 'cost unknown'}` : nothing}
        ${turn.endedAt ? html` · ${duration(turn.endedAt - turn.startedAt)}` : nothing}</footer></article>`
  }

  block(turn, block) {
    switch (block.kind) {
      case 'person':
        return html`<div class="person"><pre class="words">${plain(block.text)}</pre></div>`
      case 'call':
        if (block.purpose === 'summary') return html`<details class="fold"><summary>The conversation was summed up to fit</summary>${markdown(block.text)}</details>`
        return html`${block.thinking ? html`<details class="fold"><summary>Thinking</summary><pre class="words">${plain(block.thinking)}</pre></details>` : nothing}
          ${block.restarts && !block.final ? html`<p class="faint">The model is asked again; what came before is void.</p>` : nothing}
          ${block.text ? html`<div class="agent">${block.final ? markdown(block.text) : html`<pre class="words">${plain(block.text)}</pre>`}</div>` : nothing}
          ${!block.final && block.writing ? html`<p class="faint">writes a call of ${plain(block.writing)}…</p>` : nothing}
          ${!block.final && !block.text && !block.thinking && !block.writing && !turn.ended ? html`<p class="faint">thinks…</p>` : nothing}
          ${block.error && turn.ended !== 'failed' ? html`<p class="error">${plain(block.code)}: ${plain(block.error)}</p>` : nothing}`
      case 'tool':
        return html`<details class="fold tool"><summary><span class="kind tool">tool</span> ${plain(block.name)} <span class="faint">${plain(line(JSON.stringify(block.params ?? {}), 80))}</span>
          ${block.error ? html`<span class="error">✕ ${plain(block.code)}</span>` : block.done ? html`<span class="faint">✓ ${duration(block.durationMs)}</span>` : html`<span class="faint">…</span>`}</summary>
          ${raw(block.params ?? {})}${block.name === 'spawn_task' && block.result?.task_id ? html`<p>It became the task ${taskLink(block.result.task_id)}.</p>` : nothing}${block.error ? html`<p class="error">${plain(block.error)}</p>` : block.done ? raw(block.result ?? null) : nothing}</details>`
      case 'approval':
        return block.decision
          ? html`<details class="fold"><summary><span class="kind approval">approval</span> ${plain(block.toolName)}: <strong>${block.decision === 'approve' ? 'approved' : block.decision === 'reject' ? 'rejected' : block.decision}</strong>${block.decidedBy ? html` by ${plain(block.decidedBy)}` : nothing}${block.why ? html` <span class="faint">${plain(line(block.why))}</span>` : nothing}</summary>${raw(block.edited ?? block.params)}</details>`
          : html`<section class="ask" aria-label="Approval"><h2>${plain(block.toolName)} wants to run</h2><mill-decision .approval=${block} .schema=${this.tools.get(block.toolName)?.parameters}></mill-decision></section>`
      case 'question':
        return block.answered
          ? html`<p class="question"><span class="kind question">question</span> ${plain(block.text)}</p>`
          : html`<section class="ask" aria-label="Question"><p class="question">${plain(block.text)}</p><mill-answer .taskId=${turn.taskId}></mill-answer></section>`
      case 'note':
        return html`<p class="note">${plain(block.text)}</p>`
      default:
        return nothing
    }
  }
}
customElements.define('mill-chat', Chat)

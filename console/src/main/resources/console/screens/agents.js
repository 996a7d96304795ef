// Who takes tasks and what they can do: agents with their rules and prompts, tools with their schemas.
import { html, nothing } from 'lit'
import { get } from '../api.js'
import { cost, count, duration, effects, line, plain } from '../format.js'
import { markdown } from '../markdown.js'
import { Screen, asCurl, at, empty, problem, raw } from '../ui.js'

class Agents extends Screen {
  static properties = { all: { state: true }, tools: { state: true }, detail: { state: true } }

  constructor() {
    super()
    this.all = null
    this.tools = []
    this.detail = null
  }

  connectedCallback() {
    super.connectedCallback()
    this.attempt(async () => {
      const name = this.params.name
      const [agents, tools, detail] = await Promise.all([
        get('/v1/agents', this.signal), get('/v1/tools', this.signal),
        name ? get(`/v1/agents/${encodeURIComponent(name)}`, this.signal) : null])
      this.all = agents
      this.tools = tools.tools
      this.detail = detail
    })
  }

  render() {
    return html`${problem(this.problem)}${this.params.name ? this.one() : this.list()}
      ${asCurl('GET', this.params.name ? `/v1/agents/${encodeURIComponent(this.params.name)}` : '/v1/agents')}`
  }

  list() {
    if (!this.all) return html`<h1>Agents and tools</h1>`
    return html`<div class="head"><h1>Agents and tools</h1></div>
      ${this.all.problems.map(one => html`<div class="problem"><strong>${plain(one.file)}</strong> ${plain(one.problem)}</div>`)}
      <div class="cards">${this.all.agents.map(agent => html`<section class="card row">
        <h2><a class="main" href=${at(`/agents/${encodeURIComponent(agent.name)}`)}>${plain(agent.name)}</a> <span class="faint">${agent.source} · ${plain(agent.version)}</span></h2>
        <p>${plain(agent.description)}</p>
        <p class="faint">${agent.tools.length} tools${agent.subAgents.length ? ` · sub-agents ${agent.subAgents.map(plain).join(', ')}` : ''}${agent.approval.length ? ` · ${agent.approval.length} approval ${agent.approval.length === 1 ? 'rule' : 'rules'}` : ''}${agent.model ? ` · model ${plain(agent.model)}` : ''}</p>
        ${agent.missingTools.length ? html`<p class="error">Nobody serves: ${agent.missingTools.map(plain).join(', ')}</p>` : nothing}
        <div class="actions"><a class="button" href=${at('/chat', { agent: agent.name })}>Start a chat<span class="hidden"> with ${plain(agent.name)}</span></a></div></section>`)}</div>
      <h2>Tools that somebody serves now</h2>
      ${this.tools.length ? html`<div class="scroll"><table class="list"><thead><tr><th scope="col">Tool</th><th scope="col">What it does</th><th scope="col">Effects</th><th scope="col">Served by</th><th scope="col" class="num">Time limit</th></tr></thead>
        <tbody>${this.tools.map(tool => html`<tr class="row"><td><details><summary class="id">${plain(tool.name)}</summary>${raw(tool.parameters)}${tool.approval && tool.approval !== 'never' ? html`<p class="faint">Approval: ${plain(typeof tool.approval === 'string' ? tool.approval : tool.approval.when)}</p>` : nothing}</details></td>
          <td class="wide">${plain(line(tool.description, 200))}</td><td>${effects(tool.sideEffects)}</td><td>${plain(tool.toolset)}</td><td class="num">${duration(tool.timeoutMs)}</td></tr>`)}</tbody></table></div>`
        : empty('No tool is served now.')}`
  }

  one() {
    const agent = this.detail
    if (!agent) return html`<h1>Agent</h1>`
    const limits = agent.limits ?? {}
    return html`<div class="head"><h1>${plain(agent.name)}</h1><span class="faint">${agent.source} · version ${plain(agent.version)}</span>
      <a class="button" href=${at('/chat', { agent: agent.name })}>Start a chat</a> <a class="button" href=${at('/tasks', { agent: agent.name })}>Its tasks</a></div>
      <p>${plain(agent.description)}</p>
      ${agent.missingTools.length ? html`<p class="error">Nobody serves: ${agent.missingTools.map(plain).join(', ')}</p>` : nothing}
      <dl class="facts"><dt>Model</dt><dd>${plain(agent.model ?? 'the default one')}${agent.fallback ? `, then ${plain(agent.fallback)}` : ''}</dd>
        <dt>Tools</dt><dd>${agent.tools.map(plain).join(', ') || 'none'}</dd>
        ${agent.subAgents.length ? html`<dt>Sub-agents</dt><dd>${agent.subAgents.map(plain).join(', ')}</dd>` : nothing}
        <dt>Approval</dt><dd>${agent.approval.length ? agent.approval.map(rule => html`<div>${plain(rule.tools)}: ${plain(typeof rule.approval === 'string' ? rule.approval : `when ${rule.approval.when}`)}${rule.expiryMs ? `, after ${duration(rule.expiryMs)} ${plain(rule.onExpiry ?? 'reject')}` : ''}</div>`) : 'as its tools have it'}</dd>
        <dt>Limits</dt><dd>${[limits.iterations && `${count(limits.iterations)} model calls`, limits.tokens && `${count(limits.tokens)} tokens`, limits.costMicros && cost(limits.costMicros), limits.lifeTimeMs && duration(limits.lifeTimeMs)].filter(Boolean).join(', ') || 'those of the installation'}</dd>
        <dt>Tool calls of a step</dt><dd>${agent.sequential ? 'one after the other' : 'at the same time'}</dd>
        ${agent.output ? html`<dt>Answers by</dt><dd>${raw(agent.output)}</dd>` : nothing}</dl>
      <h2>Prompt</h2><div class="answer-box">${markdown(agent.prompt)}</div>`
  }
}
customElements.define('mill-agents', Agents)

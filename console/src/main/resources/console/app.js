// The frame around the screens: addresses, keys, theme, and what waits for a person.
import { html, nothing, LitElement } from 'lit'
import { choose, settings } from './format.js'
import { callWith, get, hasKey, namespace, scoped } from './api.js'
import { at, go, keysFree, moveRow } from './ui.js'

const SCREENS = [
  { path: /^\/(?:chat)?$/, tag: 'mill-chat', module: './screens/chat.js', name: 'Chat', nav: '/chat', key: 'c' },
  { path: /^\/sessions$/, tag: 'mill-sessions', module: './screens/sessions.js', name: 'Sessions', nav: '/sessions', key: 's' },
  { path: /^\/sessions\/(?<sessionId>[^/]+)$/, tag: 'mill-chat', module: './screens/chat.js', name: 'Chat', under: '/chat' },
  { path: /^\/tasks$/, tag: 'mill-tasks', module: './screens/tasks.js', name: 'Tasks', nav: '/tasks', key: 't' },
  { path: /^\/tasks\/(?<taskId>[^/]+)$/, tag: 'mill-task', module: './screens/task.js', name: 'Task', under: '/tasks' },
  { path: /^\/compare\/(?<taskId>[^/]+)\/(?<otherId>[^/]+)$/, tag: 'mill-compare', module: './screens/compare.js', name: 'Compare', under: '/tasks' },
  { path: /^\/inbox$/, tag: 'mill-inbox', module: './screens/inbox.js', name: 'Inbox', nav: '/inbox', key: 'i' },
  { path: /^\/agents$/, tag: 'mill-agents', module: './screens/agents.js', name: 'Agents', nav: '/agents', key: 'a' },
  { path: /^\/agents\/(?<name>[^/]+)$/, tag: 'mill-agents', module: './screens/agents.js', name: 'Agent', under: '/agents' },
  { path: /^\/memory$/, tag: 'mill-memory', module: './screens/memory.js', name: 'Memory', nav: '/memory', key: 'm' },
  { path: /^\/memory\/(?<document>[^/]+)$/, tag: 'mill-memory', module: './screens/memory.js', name: 'Memory', under: '/memory' },
  { path: /^\/usage$/, tag: 'mill-usage', module: './screens/usage.js', name: 'Usage', nav: '/usage', key: 'u' },
  { path: /^\/dead-letters$/, tag: 'mill-letters', module: './screens/letters.js', name: 'Dead letters', nav: '/dead-letters', key: 'd' },
  { path: /^\/rules$/, tag: 'mill-rules', module: './screens/rules.js', name: 'Rules', nav: '/rules', key: 'r' },
  { path: /^\/schedules$/, tag: 'mill-schedules', module: './screens/schedules.js', name: 'Schedules', nav: '/schedules', key: 'h' },
  { path: /^\/system$/, tag: 'mill-system', module: './screens/system.js', name: 'System', nav: '/system', key: 'y' },
  { path: /^\/events\/(?<eventId>[^/]+)$/, tag: 'mill-event', module: './screens/event.js', name: 'Event', under: '/tasks' },
]

/** A part of an address as it was meant; what is no encoding is taken as it stands. */
function decoded(part) {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

class App extends LitElement {
  static properties = { screen: { state: true }, waiting: { state: true }, waitingMore: { state: true }, words: { state: true }, asking: { state: true }, help: { state: true }, chosen: { state: true }, tenants: { state: true }, login: { state: true } }

  #pendingKey = ''
  #poll = 0
  #element = null
  #identity = ''
  /** Who does not want to log in now is asked again on the next screen. */
  #declined = false

  constructor() {
    super()
    this.screen = null
    this.waiting = 0
    this.waitingMore = false
    this.words = ''
    this.asking = null
    this.help = false
    this.tenants = []
    this.login = false
    this.chosen = { ...settings }
    this.replaceChildren()
  }

  createRenderRoot() {
    return this
  }

  connectedCallback() {
    super.connectedCallback()
    addEventListener('popstate', () => this.show())
    addEventListener('mill-go', event => this.show(event.detail.replace))
    addEventListener('mill-say', event => { this.words = event.detail })
    addEventListener('mill-ask', event => this.ask(event.detail))
    addEventListener('mill-count', () => this.count())
    addEventListener('mill-login', () => this.logIn())
    document.addEventListener('click', event => this.follow(event))
    document.addEventListener('keydown', event => this.press(event))
    document.addEventListener('visibilitychange', () => this.count())
    this.theme()
    this.show()
    this.count()
    this.#poll = setInterval(() => this.count(), 5000)
  }

  /** How many people are waited for: asked for now and then, not streamed, since each stream is a connection. */
  async count() {
    if (document.hidden) return
    try {
      const [approvals, questions] = await Promise.all([get(scoped('/v1/approvals', { limit: 100 })), get(scoped('/v1/tasks', { waitingFor: 'answer', limit: 100 }))])
      this.waiting = approvals.approvals.length + questions.tasks.length
      this.waitingMore = approvals.next != null || questions.next != null
    } catch {
      // the screen itself says what is wrong
    }
  }

  theme() {
    document.documentElement.dataset.theme = settings.theme
  }

  async show(replace = false) {
    this.#declined = false
    const path = location.pathname.replace(/^\/console/, '').replace(/(.)\/$/, '$1') || '/'
    const screen = SCREENS.find(one => one.path.test(path))
    if (!screen) {
      this.screen = { name: 'Not found', missing: path }
      this.#element = null
      this.#identity = ''
      document.title = 'Not found · Millrace'
      return
    }
    await import(screen.module)
    if (location.pathname.replace(/^\/console/, '').replace(/(.)\/$/, '$1') !== path && path !== '/') return
    const params = Object.fromEntries(Object.entries(screen.path.exec(path).groups ?? {}).map(([name, value]) => [name, decoded(value)]))
    const identity = JSON.stringify([screen.tag, params, namespace()])
    const same = this.#identity === identity
    this.#identity = identity
    if (!same) {
      this.#element = document.createElement(screen.tag)
      this.#element.params = params
    }
    this.#element.query = new URLSearchParams(location.search)
    this.screen = screen
    document.title = `${screen.name}${params.taskId || params.sessionId || params.name || params.document || params.eventId ? ` ${params.taskId ?? params.sessionId ?? params.name ?? params.document ?? params.eventId}` : ''} · Millrace`
    if (!same && !replace) {
      await this.updateComplete
      scrollTo(0, 0)
      if (this.words !== '') this.words = screen.name
    }
    this.requestUpdate()
  }

  follow(event) {
    const link = event.composedPath().find(part => part instanceof HTMLAnchorElement)
    if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || link.target) return
    if (link.origin !== location.origin || !link.pathname.startsWith('/console')) return
    if (link.hash && link.pathname === location.pathname) return
    event.preventDefault()
    go(link.pathname + link.search)
  }

  press(event) {
    if (event.key === 'Escape' && !document.querySelector('dialog[open]')) {
      document.activeElement?.blur()
      return
    }
    if (!keysFree(event)) return
    const key = event.key
    if (this.#pendingKey === 'g') {
      this.#pendingKey = ''
      const screen = SCREENS.find(one => one.key === key)
      if (screen) {
        event.preventDefault()
        go(at(screen.nav))
      }
      return
    }
    if (key === 'g') {
      this.#pendingKey = 'g'
      setTimeout(() => { this.#pendingKey = '' }, 1500)
    } else if (key === '/') {
      const field = this.querySelector('main input[type="search"], main textarea')
      if (field) {
        event.preventDefault()
        field.focus()
      }
    } else if (key === 'j' || key === 'k') moveRow(this, key === 'j' ? 1 : -1)
    else if (key === '?') this.openHelp()
  }

  async ask(question) {
    this.asking = question
    await this.updateComplete
    const dialog = this.querySelector('#ask')
    dialog.showModal()
    dialog.addEventListener('close', () => {
      this.asking = null
      question.resolve(dialog.returnValue === 'yes')
    }, { once: true })
  }

  /** Asks who is there, once however many requests were refused; then everything is asked anew. */
  async logIn() {
    if (this.login || this.#declined) return
    this.login = true
    await this.updateComplete
    const dialog = this.querySelector('#login')
    dialog.showModal()
    dialog.addEventListener('close', () => {
      const secret = dialog.querySelector('input').value.trim()
      this.login = false
      if (dialog.returnValue === 'yes' && secret) {
        callWith(secret)
        this.#identity = ''
        this.show(true)
        this.count()
      } else this.#declined = true
    }, { once: true })
  }

  logOut() {
    callWith('')
    this.#identity = ''
    this.show(true)
  }

  async openHelp() {
    this.help = true
    // who may not be told any still has the field
    get('/v1/namespaces?limit=1000').then(answer => { this.tenants = answer.namespaces }, () => { this.tenants = [] })
    await this.updateComplete
    const dialog = this.querySelector('#help')
    dialog.showModal()
    dialog.addEventListener('close', () => { this.help = false }, { once: true })
  }

  choose(changes) {
    choose(changes)
    this.chosen = { ...settings }
    this.theme()
    this.#element?.requestUpdate?.()
  }

  render() {
    const tenant = namespace()
    const active = this.screen?.nav ?? this.screen?.under
    return html`
      <a class="skip" href="#main" @click=${event => { event.preventDefault(); this.querySelector('main').focus() }}>Skip to the content</a>
      <header>
        <a class="brand" href=${at('/chat')}><img src="/console/-/mark.svg" alt="" width="22" height="22"> Millrace</a>
        <nav aria-label="Screens">${SCREENS.filter(one => one.nav).map(one => html`<a href=${at(one.nav)} aria-current=${active === one.nav ? 'page' : nothing}>${one.name}${one.nav === '/inbox' && this.waiting ? html` <span class="badge" aria-label="${this.waiting}${this.waitingMore ? ' or more' : ''} waiting">${this.waiting}${this.waitingMore ? '+' : ''}</span>` : nothing}</a>`)}</nav>
        <div class="tools">
          ${tenant === 'default' ? nothing : html`<span class="tenant" title="Namespace">${tenant}</span>`}
          <button type="button" class="quiet" @click=${() => this.openHelp()} aria-label="Keys and settings">?</button>
        </div>
      </header>
      <main id="main" tabindex="-1">${this.screen?.missing
        ? html`<h1>Not found</h1><p>The console has no screen at <code>${this.screen.missing}</code>.</p>`
        : this.#element}</main>
      <div class="hidden" role="status" aria-live="polite">${this.words}</div>
      <dialog id="ask" aria-labelledby="ask-words">${this.asking ? html`<form method="dialog"><p id="ask-words">${this.asking.words}</p>
        <div class="actions"><button value="yes" class="danger">Yes, do it</button><button value="no" autofocus>No</button></div></form>` : nothing}</dialog>
      <dialog id="login" aria-labelledby="login-words">${this.login ? html`<form method="dialog"><h2 id="login-words">Who is there?</h2>
        <p>This Millrace answers those that it knows. The key stays in this tab and is gone with it.</p>
        <label class="stack"><span>API key, or token</span><input type="password" autocomplete="off" autofocus></label>
        <div class="actions"><button value="yes" class="primary">Log in</button><button value="no" formnovalidate>Not now</button></div></form>` : nothing}</dialog>
      <dialog id="help" aria-label="Keys and settings">${this.help ? html`<form method="dialog">
        <h2>Settings</h2>
        <label class="stack"><span>Colours</span><select @change=${event => this.choose({ theme: event.target.value })}>
          ${['auto', 'light', 'dark'].map(theme => html`<option value=${theme} ?selected=${this.chosen.theme === theme}>${theme}</option>`)}</select></label>
        <label class="stack"><span>Your name, for the record of what you decide</span><input type="text" maxlength="200" .value=${this.chosen.name} @change=${event => this.choose({ name: event.target.value.trim() })}></label>
        <label class="stack"><span>Namespace</span><input type="text" class="tenant-field" maxlength="200" list="tenants" autocomplete="off" .value=${tenant} @change=${event => go(`${location.pathname}${event.target.value.trim() && event.target.value.trim() !== 'default' ? `?namespace=${encodeURIComponent(event.target.value.trim())}` : ''}`)}></label>
        <datalist id="tenants">${this.tenants.map(name => html`<option value=${name}></option>`)}</datalist>
        ${hasKey() ? html`<button value="out" @click=${() => this.logOut()}>Log out of this tab</button>` : nothing}
        <label class="check"><input type="checkbox" .checked=${this.chosen.utc} @change=${event => this.choose({ utc: event.target.checked })}> Times in UTC</label>
        <label class="check"><input type="checkbox" .checked=${this.chosen.keys} @change=${event => this.choose({ keys: event.target.checked })}> Single keys are commands</label>
        <h2>Keys</h2>
        <dl class="keys"><dt>g then ${SCREENS.filter(one => one.key).map(one => one.key).join(', ')}</dt><dd>${SCREENS.filter(one => one.key).map(one => one.name).join(', ')}</dd>
          <dt>/</dt><dd>search, or write</dd><dt>j k</dt><dd>next row, row before</dd><dt>Enter</dt><dd>open</dd>
          <dt>a r e</dt><dd>in the inbox: approve, reject, edit</dd><dt>Esc</dt><dd>leave a field</dd><dt>?</dt><dd>this</dd></dl>
        <div class="actions"><button class="primary" autofocus>Done</button></div></form>` : nothing}</dialog>`
  }
}
customElements.define('mill-app', App)

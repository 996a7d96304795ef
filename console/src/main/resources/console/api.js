// The public HTTP API: nothing here is known to the console alone.

/** What the server refused, in its own words. */
export class ApiError extends Error {
  constructor(status, problem) {
    super(problem?.detail ?? problem?.title ?? `The server answered with ${status}.`)
    this.status = status
    this.code = problem?.code ?? ''
    this.problem = problem
  }
}

/** The tenant, which stands in the address of every screen that is not that of the default one. */
export function namespace() {
  return new URLSearchParams(location.search).get('namespace') || 'default'
}

const KEY = 'millrace.key'

/** The API key or token that this tab calls with; it is gone with the tab. */
let key = remembered()

function remembered() {
  try {
    return sessionStorage.getItem(KEY) ?? ''
  } catch {
    return ''
  }
}

/** Calls with this key from now on; empty = with none. */
export function callWith(secret) {
  key = secret
  try {
    if (secret) sessionStorage.setItem(KEY, secret)
    else sessionStorage.removeItem(KEY)
  } catch {
    // a browser that stores nothing asks again after a reload
  }
}

/** Whether there is a key to forget. */
export const hasKey = () => key !== ''

const identified = headers => (key ? { ...headers, authorization: `Bearer ${key}` } : headers)

/** A path of the API with its query; what is null or empty is left out. */
export function path(base, query = {}) {
  const all = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value != null && value !== '') all.append(name, value)
  }
  const text = all.toString()
  return text ? `${base}?${text}` : base
}

/** The same for the tenant of this screen. */
export function scoped(base, query = {}) {
  const tenant = namespace()
  return path(base, tenant === 'default' ? query : { ...query, namespace: tenant })
}

/** Asks; the answer is { status, json, headers }. */
export async function call(method, url, { body, headers = {}, signal, type = 'application/json' } = {}) {
  const options = { method, signal, cache: 'no-store', headers: identified({ accept: 'application/json', ...headers }) }
  if (body !== undefined) {
    options.body = type === 'application/json' ? JSON.stringify(body) : body
    options.headers['content-type'] = type
  }
  let answer
  try {
    answer = await fetch(url, options)
  } catch (e) {
    if (e.name === 'AbortError') throw e
    throw new ApiError(0, { detail: 'The gateway cannot be reached; it is tried again as soon as something is asked.' })
  }
  const text = await answer.text()
  let json
  try {
    json = text ? JSON.parse(text) : undefined
  } catch {
    json = undefined
  }
  if (answer.status === 401) dispatchEvent(new CustomEvent('mill-login'))
  if (!answer.ok) throw new ApiError(answer.status, json)
  return { status: answer.status, json, text, headers: answer.headers }
}

export const get = async (url, signal) => (await call('GET', url, { signal })).json
export const post = async (url, body = {}, headers = {}) => (await call('POST', url, { body, headers })).json

/** The command that does the same without this page. */
export function curl(method, url, body) {
  const quote = text => `'${String(text).replaceAll("'", "'\\''")}'`
  const parts = ['curl', '-s']
  if (method !== 'GET') parts.push('-X', method)
  parts.push(quote(location.origin + url))
  if (key) parts.push('-H', '"authorization: Bearer $MILLRACE_KEY"')
  if (body !== undefined) parts.push('-H', quote('content-type: application/json'), '-d', quote(JSON.stringify(body)))
  return parts.join(' ')
}

/**
 * Server-sent events, as long as the tab can be seen: a browser has six connections for all tabs of a server. One that
 * is hidden gives its own up and goes on behind the last event once it is seen again. Whatever ends it, it comes back
 * there, until it is closed or there is no more.
 *
 * It is no EventSource, which hears only the types that it is told, and gives up for good on a 503.
 */
export class Live {
  #url
  #handlers
  #last
  #abort = null
  #timer = 0
  #tries = 0
  #pause = 1000
  #seen = () => (document.hidden ? this.#drop() : this.#open())

  /**
   * @param url of the stream, without after=
   * @param handlers event(type, data, id); state('open' | 'lost' | 'paused' | 'over'), the last one for good
   * @param after where to begin; undefined = where the route begins
   */
  constructor(url, handlers, after) {
    this.#url = url
    this.#handlers = handlers
    this.#last = after
    document.addEventListener('visibilitychange', this.#seen)
    if (!document.hidden) this.#open()
  }

  close() {
    document.removeEventListener('visibilitychange', this.#seen)
    this.#drop()
  }

  #drop() {
    clearTimeout(this.#timer)
    this.#timer = 0
    if (!this.#abort) return
    this.#abort.abort()
    this.#abort = null
    this.#handlers.state?.('paused')
  }

  async #open() {
    if (this.#abort) return
    const abort = new AbortController()
    this.#abort = abort
    let over = false
    try {
      const mark = this.#url.includes('?') ? '&' : '?'
      const url = this.#last ? `${this.#url}${mark}after=${encodeURIComponent(this.#last)}` : this.#url
      const answer = await fetch(url, { signal: abort.signal, cache: 'no-store', headers: identified({ accept: 'text/event-stream' }) })
      // 204: seen to its end. 400: a place that is gone. 404: what it was about is
      over = answer.status === 204 || answer.status === 404
      if (answer.status === 400) this.#last = undefined
      if (answer.status === 200) {
        this.#tries = 0
        this.#handlers.state?.('open')
        await this.#read(answer.body)
      }
    } catch {
      // the connection broke, or was dropped
    }
    if (this.#abort !== abort) return
    this.#abort = null
    if (over) {
      this.close()
      this.#handlers.state?.('over')
      return
    }
    this.#handlers.state?.('lost')
    this.#timer = setTimeout(() => document.hidden || this.#open(), Math.min(10_000, this.#pause * 2 ** this.#tries++) / 2)
  }

  async #read(body) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader()
    let rest = ''
    let type = ''
    let data = []
    let id
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const lines = (rest + part.value).split(/\r?\n/)
      rest = lines.pop()
      for (const line of lines) {
        if (line === '') {
          if (data.length) this.#tell(type || 'message', data.join('\n'), id)
          type = ''
          data = []
        } else if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5))
        else if (line.startsWith('event:')) type = line.slice(6).trim()
        else if (line.startsWith('id:')) id = line.slice(3).trim()
        else if (line.startsWith('retry:')) this.#pause = Number(line.slice(6)) || this.#pause
      }
    }
  }

  #tell(type, text, id) {
    if (id) this.#last = id
    this.#handlers.event(type, JSON.parse(text), id)
  }
}

import { MillraceError, RequestRefusedError, UnreachableError } from './errors.js'

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds of `1500`, `'30s'` or `'10m'`. */
export function milliseconds(time, name) {
  if (typeof time === 'number' && Number.isFinite(time) && time >= 0) {
    return time
  }
  const parts = /^(\d+)(ms|s|m|h|d)$/.exec(String(time))
  if (!parts) {
    throw new TypeError(`${name}: expected milliseconds or a time such as '30s', found ${JSON.stringify(time)}`)
  }
  return Number(parts[1]) * UNITS[parts[2]]
}

/** A path with encoded segments. */
export function path(...segments) {
  return segments.map(segment => `/${encodeURIComponent(segment)}`).join('')
}

/** A fresh id; `crypto.randomUUID` is missing in pages that come without TLS. */
export function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = (bytes[6] & 0x0f) | 0x40
  bytes[8] = (bytes[8] & 0x3f) | 0x80
  const hex = Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** A path with parameters; what is undefined or null is left out. */
export function query(route, parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null)
  return given.length === 0
    ? route
    : `${route}?${given.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')}`
}

/** What the gateway says about a request that it refused. */
export async function refusal(response) {
  let problem = {}
  try {
    problem = JSON.parse(await response.text()) ?? {}
  } catch {
    // not a problem document; the status has to do
  }
  const seconds = response.headers.get('retry-after') ?? ''
  return new RequestRefusedError(
    response.status,
    typeof problem.code === 'string' ? problem.code : '',
    problem.detail || problem.title || `HTTP status ${response.status}`,
    /^\d+$/.test(seconds) ? Number(seconds) * 1_000 : undefined
  )
}

/** Requests to the gateway as they are: for routes that have no method of their own. */
export class GatewayHttp {
  #base
  #token
  #timeout
  #fetch

  constructor({ baseUrl, token, timeout = 30_000, patience = 20_000, silence = 60_000, fetch: own }) {
    if (!/^https?:\/\/./.test(String(baseUrl))) {
      throw new TypeError(`baseUrl: expected something like http://localhost:8080, found ${baseUrl}`)
    }
    this.#base = String(baseUrl).replace(/\/+$/, '')
    this.#token = token
    this.#timeout = milliseconds(timeout, 'timeout')
    this.#fetch = own ?? ((...all) => globalThis.fetch(...all))
    this.patience = milliseconds(patience, 'patience')
    this.silence = milliseconds(silence, 'silence')
  }

  async get(route) {
    return this.json('GET', route)
  }

  async post(route, body, headers) {
    return this.json('POST', route, body, headers)
  }

  async put(route, body, headers) {
    return this.json('PUT', route, body, headers)
  }

  async delete(route, headers) {
    return this.json('DELETE', route, undefined, headers)
  }

  /** Any request; the body as JSON, unless it is a text with a Content-Type of its own. */
  async json(method, route, body, headers = {}) {
    const response = await this.#send(method, route, body, headers)
    try {
      return response.body === '' ? undefined : JSON.parse(response.body)
    } catch (cause) {
      throw new MillraceError(`Expected JSON from ${this.#base}${route}. Is that a Millrace gateway?`, { cause })
    }
  }

  /** A resource that is text, with what names its version. */
  async text(route) {
    const { body, headers } = await this.#send('GET', route, undefined, {
      accept: 'text/markdown, text/plain, application/problem+json'
    })
    return { text: body, etag: headers.get('etag') ?? '' }
  }

  /** All elements of a list that comes in pages; a page is asked for when its first element is wanted. */
  async *items(route, parameters, cursor, field) {
    let next
    do {
      const page = await this.get(query(route, { ...parameters, [cursor]: next }))
      yield* page[field]
      next = page.next ?? undefined
    } while (next !== undefined)
  }

  /** Opens a stream of server-sent events; the time-out is for the answer to begin. */
  async open(route, lastEventId, abort) {
    const timer = setTimeout(() => abort.abort(new Error(`no answer within ${this.#timeout} ms`)), this.#timeout)
    try {
      const headers = { accept: 'text/event-stream, application/problem+json' }
      if (lastEventId !== undefined) {
        headers['last-event-id'] = lastEventId
      }
      return await this.#fetch(this.#base + route, {
        headers: await this.#authorized(headers),
        cache: 'no-store',
        signal: abort.signal
      })
    } finally {
      clearTimeout(timer)
    }
  }

  unreachable(cause) {
    const reason = cause?.cause?.code ?? cause?.cause?.message ?? cause?.message ?? cause
    return new UnreachableError(`Cannot reach Millrace at ${this.#base} (${reason}).`, { cause })
  }

  async #send(method, route, body, headers) {
    const abort = new AbortController()
    const timer = setTimeout(
      () => abort.abort(new Error(`no whole answer within ${this.#timeout} ms`)), this.#timeout)
    const all = { accept: 'application/json, application/problem+json', ...headers }
    const isText = typeof body === 'string' && all['content-type'] !== undefined
    if (body !== undefined && !isText) {
      all['content-type'] ??= 'application/json'
    }
    const authorized = await this.#authorized(all)
    try {
      const response = await this.#fetch(this.#base + route, {
        method,
        headers: authorized,
        body: body === undefined || isText ? body : JSON.stringify(body),
        signal: abort.signal
      })
      if (!response.ok) {
        throw await refusal(response)
      }
      return { body: await response.text(), headers: response.headers }
    } catch (cause) {
      throw cause instanceof MillraceError ? cause : this.unreachable(abort.signal.aborted ? abort.signal.reason : cause)
    } finally {
      clearTimeout(timer)
    }
  }

  async #authorized(headers) {
    const token = typeof this.#token === 'function' ? await this.#token() : this.#token
    return token ? { ...headers, authorization: `Bearer ${token}` } : headers
  }
}

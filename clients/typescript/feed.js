import { MillraceError, RequestRefusedError } from './errors.js'
import { refusal } from './http.js'

const PAUSE = 300

/** Cuts chunks of a stream of server-sent events into events (WHATWG HTML, section 9.2). */
export class SseParser {
  #rest = ''
  #data = []
  #id
  #skipLineFeed = false
  lastEventId

  constructor(lastEventId) {
    this.lastEventId = lastEventId
  }

  /** The data of the events that end in this piece of text, each with the id to resume after. */
  push(text) {
    const events = []
    let all = this.#rest + (this.#skipLineFeed && text.startsWith('\n') ? text.slice(1) : text)
    this.#skipLineFeed = text === '' ? this.#skipLineFeed : all.endsWith('\r')
    let end
    while ((end = all.search(/[\r\n]/)) >= 0) {
      this.#line(all.slice(0, end), events)
      all = all.slice(all[end] === '\r' && all[end + 1] === '\n' ? end + 2 : end + 1)
    }
    this.#rest = all
    return events
  }

  #line(line, events) {
    if (line === '') {
      this.lastEventId = this.#id ?? this.lastEventId
      if (this.#data.length > 0) {
        events.push({ id: this.lastEventId, data: this.#data.join('\n') })
      }
      this.#data = []
      this.#id = undefined
      return
    }
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'data') {
      this.#data.push(value)
    } else if (field === 'id') {
      this.#id = value
    }
  }
}

/**
 * Events as they happen, without gap or double: a connection that breaks, or on which nothing is heard for too long, is opened
 * again after the last event that came. Ends when the gateway says that there will be no more, or the signal is aborted.
 */
export async function* feed(http, route, { after, signal, opened } = {}) {
  let lastEventId = after
  let patienceEnd = Date.now() + http.patience
  while (!signal?.aborted) {
    let pause = PAUSE
    const abort = new AbortController()
    const stop = () => abort.abort(new Error('aborted'))
    signal?.addEventListener('abort', stop)
    try {
      const response = await http.open(route, lastEventId, abort)
      if (response.status === 204) {
        return
      }
      if (response.status !== 200) {
        throw await refusal(response)
      }
      if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
        throw new MillraceError(`Expected events from ${route}. Is that a Millrace gateway?`)
      }
      opened?.()
      const before = lastEventId
      try {
        for await (const event of connection(response, http.silence, lastEventId)) {
          lastEventId = event.id
          yield { cursor: event.id ?? '', json: read(event.data) }
        }
        // one that told something and ended may be over, which the gateway says when it is asked
        pause = lastEventId === before ? PAUSE : 0
      } finally {
        // it was there until now, however long nothing happened
        patienceEnd = Date.now() + http.patience
      }
    } catch (failure) {
      if (signal?.aborted) {
        return
      }
      if (failure instanceof RequestRefusedError) {
        const mayPass = failure.status === 404 || failure.status === 429 || failure.status >= 500
        const left = patienceEnd - Date.now()
        if (!mayPass || left <= 0) {
          throw failure
        }
        pause = Math.max(PAUSE, Math.min(left, failure.retryAfter ?? 0))
      } else if (failure instanceof MillraceError) {
        throw failure
      } else if (Date.now() > patienceEnd) {
        throw http.unreachable(failure)
      }
    } finally {
      signal?.removeEventListener('abort', stop)
      abort.abort(new Error('closed'))
    }
    await sleep(pause, signal)
  }
}

async function* connection(response, silence, lastEventId) {
  const parser = new SseParser(lastEventId)
  const decoder = new TextDecoder()
  const reader = response.body.getReader()
  try {
    for (;;) {
      const { done, value } = await within(silence, reader.read())
      if (done) {
        return
      }
      yield* parser.push(decoder.decode(value, { stream: true }))
    }
  } finally {
    reader.cancel().catch(() => {})
  }
}

function within(limit, promise) {
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing was heard for ${limit} ms`)), limit)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

function read(data) {
  try {
    return JSON.parse(data)
  } catch (cause) {
    throw new MillraceError('Expected JSON in the events. Is that a Millrace gateway?', { cause })
  }
}

function sleep(limit, signal) {
  return new Promise(resolve => {
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, limit)
    signal?.addEventListener('abort', done)
    if (signal?.aborted) {
      done()
    }
  })
}

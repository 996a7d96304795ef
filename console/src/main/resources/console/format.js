// How values are shown to people. Pure functions; times are Unix milliseconds.

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How long something takes: 12 ms, 3.4 s, 5 min 2 s, 3 h 10 min. */
export function duration(ms) {
  if (ms == null || Number.isNaN(ms)) return ''
  const all = Math.max(0, ms)
  if (all < 1000) return `${Math.round(all)} ms`
  if (all < 10_000) return `${(all / 1000).toFixed(1)} s`
  if (all < MINUTE) return `${Math.round(all / 1000)} s`
  if (all < HOUR) return two(all, MINUTE, 'min', 1000, 's')
  if (all < DAY) return two(all, HOUR, 'h', MINUTE, 'min')
  return two(all, DAY, 'd', HOUR, 'h')
}

function two(ms, unit, name, rest, restName) {
  const big = Math.floor(ms / unit)
  const small = Math.floor((ms % unit) / rest)
  return small ? `${big} ${name} ${small} ${restName}` : `${big} ${name}`
}

/** How long ago, or in how long. */
export function relative(at, now = Date.now()) {
  const gone = now - at
  if (Math.abs(gone) < 1000) return 'now'
  return gone > 0 ? `${coarse(gone)} ago` : `in ${coarse(-gone)}`
}

/** One unit is enough for an age. */
export function coarse(ms) {
  if (ms < MINUTE) return `${Math.floor(ms / 1000)} s`
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h`
  return `${Math.floor(ms / DAY)} d`
}

/** The exact moment, in local time or UTC as the reader has chosen. */
export function exact(at, utc = settings.utc) {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return ''
  const shifted = utc ? date : new Date(at - date.getTimezoneOffset() * MINUTE)
  return shifted.toISOString().replace('T', ' ').replace('Z', utc ? ' UTC' : '')
}

/** Millionths of a US dollar. What nobody knows is not nothing. */
export function cost(micros) {
  if (micros == null) return 'unknown'
  if (micros === 0) return '$0'
  const dollars = micros / 1e6
  return dollars < 0.01 ? `$${dollars.toFixed(6).replace(/0+$/, '')}` : `$${dollars.toFixed(dollars < 1 ? 4 : 2)}`
}

/** What a tool does to the world, in words. */
export function effects(sideEffects) {
  return { READ_ONLY: 'only reads', IDEMPOTENT: 'changes something; twice is as once', DESTRUCTIVE: 'changes something' }[sideEffects] ?? 'unknown'
}

/** The cost of many calls; if none of them has a price nobody knows it. */
export function costOf(sums) {
  return sums.costMicros === 0 && sums.callsWithoutPrice > 0 ? cost(null) : cost(sums.costMicros)
}

/** A count with thin thousands: 12 345. */
export function count(number) {
  return number == null ? '' : String(number).replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f')
}

/** Bytes: 812 B, 1.2 KiB. */
export function bytes(number) {
  if (number < 1024) return `${number} B`
  return number < 1024 * 1024 ? `${(number / 1024).toFixed(1)} KiB` : `${(number / 1024 / 1024).toFixed(1)} MiB`
}

/** The beginning of a text, on one line. */
export function line(text, most = 160) {
  const flat = String(text ?? '').slice(0, most * 4).replace(/\s+/g, ' ').trim()
  return flat.length > most ? `${flat.slice(0, most - 1)}…` : flat
}

/** Ids that are long are told apart by their ends: the beginning of those is a time. */
export function shortId(id) {
  const text = String(id ?? '')
  return text.length > 20 ? `${text.slice(0, 8)}…${text.slice(-6)}` : text
}

/** JSON for people. */
export function pretty(value) {
  return value === undefined ? '' : JSON.stringify(value, null, 2)
}

/**
 * A text as it is to be shown: characters that turn the direction of what follows, or that nobody can see, are made
 * visible, so that no text looks like another.
 */
export function plain(text) {
  return String(text ?? '').replace(/[\u0000-\u0008\u000b-\u001f\u007f\u0080-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g,
    character => `\u2039${character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}\u203a`)
}

/** What this reader has chosen; nothing else is ever stored in the browser. */
export const settings = load()

function load() {
  const defaults = { theme: 'auto', utc: false, keys: true, name: '' }
  try {
    const kept = JSON.parse(localStorage.getItem('millrace.settings') ?? '{}')
    return Object.assign(defaults, kept && typeof kept === 'object' ? kept : {})
  } catch {
    return defaults
  }
}

/** Changes what this reader has chosen. */
export function choose(changes) {
  Object.assign(settings, changes)
  try {
    localStorage.setItem('millrace.settings', JSON.stringify(settings))
  } catch {
    // a browser that stores nothing forgets it with the tab
  }
}

/** A fresh id; `crypto.randomUUID` is missing in pages that come without TLS. */
export const freshId = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16).padStart(2, '0')).join('')

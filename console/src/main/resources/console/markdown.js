// Markdown as templates. No markup is ever made of what a model says: a text becomes elements of the kinds below, with
// text in them, and whatever else it holds is shown as it stands.
import { html } from 'lit'
import { plain } from './format.js'

const MOST = 200_000
// what is quoted deeper is shown as it stands
const DEEPEST = 20

/** A text for people. What is very long is shown as it is, since nobody reads it for its headings. */
export function markdown(text) {
  const all = String(text ?? '')
  if (all.length > MOST) return html`<pre class="long">${plain(all)}</pre>`
  return html`<div class="prose">${blocks(plain(all).split('\n'))}</div>`
}

// No test of a line takes longer than the line is long: each part of it takes nothing that the part after it could.
const FENCE = /^\s*(```+|~~~+)\s*([\w+-]*)/
const HEADING = /^(#{1,6})\s+(\S.*)?$/s
const ITEM = /^\s{0,6}(?:([-*+])|(\d{1,9})[.)])\s+(\S.*)?$/s

/** A line of nothing but three or more of one mark, and blanks. */
const isRule = line => /^([-*_])\1{2,}$/.test(line.replace(/\s/g, ''))

/** The line below the names of a table's columns: of each one dashes, with or without colons. */
const isDivider = line => line?.includes('-') && cells(line).every(cell => /^:?-+:?$/.test(cell))

function blocks(lines, depth = 0) {
  const out = []
  let at = 0
  while (at < lines.length) {
    const line = lines[at]
    const fence = FENCE.exec(line)
    const heading = HEADING.exec(line)
    const item = listItem(line)
    if (!line.trim()) at++
    else if (fence) {
      const body = []
      for (at++; at < lines.length && !lines[at].trim().startsWith(fence[1]); at++) body.push(lines[at])
      at++
      out.push(html`<pre tabindex="0"><code>${body.join('\n')}</code></pre>`)
    } else if (heading) {
      // the page has headings of its own; those of a text are only set off
      out.push(html`<p class="heading">${inline(heading[2] ?? '')}</p>`)
      at++
    } else if (isRule(line)) {
      out.push(html`<hr>`)
      at++
    } else if (line.startsWith('>')) {
      const body = []
      for (; at < lines.length && lines[at].startsWith('>'); at++) body.push(lines[at].replace(/^>\s?/, ''))
      out.push(html`<blockquote>${body.length > 200 || depth >= DEEPEST ? body.join('\n') : blocks(body, depth + 1)}</blockquote>`)
    } else if (item) {
      const items = []
      const ordered = item.ordered
      for (; at < lines.length; at++) {
        const next = listItem(lines[at])
        if (next) items.push([next.text])
        else if (lines[at].trim() && /^\s{2,}/.test(lines[at])) items.at(-1).push(lines[at].trim())
        else break
      }
      const rows = items.map(parts => html`<li>${inline(parts.join(' '))}</li>`)
      out.push(ordered ? html`<ol start=${item.start}>${rows}</ol>` : html`<ul>${rows}</ul>`)
    } else if (line.includes('|') && isDivider(lines[at + 1])) {
      const head = cells(line)
      const rows = []
      for (at += 2; at < lines.length && lines[at].includes('|'); at++) rows.push(cells(lines[at]))
      out.push(html`<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>
        <thead><tr>${head.map(cell => html`<th scope="col">${inline(cell)}</th>`)}</tr></thead>
        <tbody>${rows.map(row => html`<tr>${row.map(cell => html`<td>${inline(cell)}</td>`)}</tr>`)}</tbody></table></div>`)
    } else {
      const body = []
      do body.push(lines[at++])
      while (at < lines.length && lines[at].trim() && !/^(#{1,6}\s|\s*(```|~~~)|>)/.test(lines[at]) && !listItem(lines[at]))
      out.push(html`<p>${body.map((text, i) => (i ? html`<br>${inline(text)}` : inline(text)))}</p>`)
    }
  }
  return out
}

function listItem(line) {
  const match = ITEM.exec(line)
  return match && { ordered: !match[1], start: match[2] ?? 1, text: match[3] ?? '' }
}

const cells = line => line.trim().replace(/^\||\|$/g, '').split('|').map(cell => cell.trim())

// code first, since nothing in it means anything; no pattern can take longer than the text is long
const INLINE = /`([^`\n]+)`|\*\*([^*\n]+)\*\*|\*([^*\s][^*\n]*)\*|\[([^\][\n]{1,500})\]\((https?:\/\/[^\s()<>]{1,2000})\)|(https?:\/\/[^\s<>()"'`]{1,2000})/g

function inline(text) {
  const out = []
  let from = 0
  for (const match of text.matchAll(INLINE)) {
    if (match.index > from) out.push(text.slice(from, match.index))
    const [whole, code, strong, em, label, target, bare] = match
    if (code) out.push(html`<code>${code}</code>`)
    else if (strong) out.push(html`<strong>${strong}</strong>`)
    else if (em) out.push(html`<em>${em}</em>`)
    // where a link leads is always to be read: the words of it are the model's
    else if (target) out.push(link(target, html`${label} <span class="target">(${target})</span>`))
    else if (bare) out.push(link(bare, bare))
    else out.push(whole)
    from = match.index + whole.length
  }
  if (from < text.length) out.push(text.slice(from))
  return out
}

const link = (target, words) => html`<a href=${target} target="_blank" rel="noopener noreferrer nofollow">${words}</a>`

// The state machine as a picture: its states and edges are what the server says of itself; here is only where they go.
import { html, svg, nothing } from 'lit'

const W = 150
const H = 40
const WIDTH = 860
const HEIGHT = 330

/** States in rows: what goes on above, what ends a task below; the order is the machine's own. */
export function layout(machine) {
  const names = []
  for (const state of machine.states) if (state.name !== 'absent' && !names.some(one => one.name === state.name)) names.push(state)
  const rows = [names.filter(state => !state.ended), names.filter(state => state.ended)]
  const places = new Map()
  rows.forEach((row, r) => row.forEach((state, i) => {
    const step = WIDTH / row.length
    places.set(state.name, { x: step * (i + 0.5), y: r === 0 ? 120 : 285, ended: state.ended, row: r, column: i })
  }))
  const edges = new Map()
  for (const move of machine.moves) {
    if (move.from === move.to || !places.has(move.from) || !places.has(move.to)) continue
    const key = `${move.from}>${move.to}`
    if (!edges.has(key)) edges.set(key, { key, from: move.from, to: move.to, events: new Set() })
    edges.get(key).events.add(move.event)
  }
  return { places, edges: [...edges.values()] }
}

function route(from, to) {
  if (from.row === 0 && to.row === 0) {
    const right = to.x > from.x
    const far = Math.abs(to.column - from.column)
    if (far === 1) {
      const y = from.y + (right ? -9 : 9)
      return `M${from.x + (right ? W / 2 : -W / 2)} ${y}L${to.x + (right ? -W / 2 - 7 : W / 2 + 7)} ${y}`
    }
    const side = right ? -1 : 1
    const lift = from.y + side * (H / 2 + 22 + far * 14)
    const shift = right ? 14 : -14
    return `M${from.x + shift} ${from.y + side * H / 2}C${from.x + shift} ${lift} ${to.x - shift} ${lift} ${to.x - shift} ${to.y + side * (H / 2 + 7)}`
  }
  const down = to.y > from.y ? 1 : -1
  const middle = (from.y + to.y) / 2
  const lean = (from.x - to.x) * 0.12
  const start = from.x - lean
  const end = to.x + Math.max(-W / 3, Math.min(W / 3, lean))
  return `M${start} ${from.y + down * H / 2}C${start} ${middle + down * 20} ${end} ${middle - down * 10} ${end} ${to.y - down * (H / 2 + 7)}`
}

/** The picture, with how often each edge was walked, and the state that the task is in; the same as a table beneath. */
export function picture(machine, walked, current) {
  const { places, edges } = layout(machine)
  const order = [...edges].sort((a, b) => (walked.get(a.key) ?? 0) - (walked.get(b.key) ?? 0))
  const steps = edges.filter(edge => walked.has(edge.key))
  return html`<div class="scroll machine" tabindex="0" role="region" aria-label="State machine">
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" width=${WIDTH} height=${HEIGHT} role="img" aria-label="The task is ${current}; it has walked ${steps.length} of ${edges.length} edges. The table below lists them.">
      <defs>${['', 'on'].map(kind => svg`<marker id="tip${kind}" viewBox="0 0 8 8" refX="1" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path class="tip ${kind}" d="M0 0L8 4L0 8z"></path></marker>`)}</defs>
      ${order.map(edge => {
        const times = walked.get(edge.key) ?? 0
        return svg`<path class="edge ${times ? 'on' : ''}" d=${route(places.get(edge.from), places.get(edge.to))} marker-end="url(#tip${times ? 'on' : ''})"><title>${edge.from} → ${edge.to}: ${[...edge.events].join(', ')}${times ? `; walked ${times}×` : ''}</title></path>`
      })}
      ${[...places].map(([name, place]) => svg`<g class="node ${name} ${name === current ? 'now' : ''} ${steps.some(edge => edge.from === name || edge.to === name) ? 'seen' : ''}">
        <rect x=${place.x - W / 2} y=${place.y - H / 2} width=${W} height=${H} rx="10"></rect>
        <text x=${place.x} y=${place.y + 5} text-anchor="middle">${name === current ? '● ' : ''}${name}</text></g>`)}
    </svg></div>
    <details><summary>Walked edges as a table</summary>${steps.length ? html`<div class="scroll"><table class="list"><thead><tr><th scope="col">from</th><th scope="col">to</th><th scope="col" class="num">times</th><th scope="col">by</th></tr></thead>
      <tbody>${steps.map(edge => html`<tr><td>${edge.from}</td><td>${edge.to}</td><td class="num">${walked.get(edge.key)}</td><td>${[...edge.events].join(', ')}</td></tr>`)}</tbody></table></div>` : nothing}</details>`
}

// What changed between two texts, line by line. A pure function; quadratic only in what really differs.

const MOST_CELLS = 4_000_000

/** Rows { mark: ' ' | '-' | '+', text } that lead from the one to the other. */
export function diff(before, after) {
  const a = before.split('\n')
  const b = after.split('\n')
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++
  const middleA = a.slice(head, a.length - tail)
  const middleB = b.slice(head, b.length - tail)
  return [...a.slice(0, head).map(text => ({ mark: ' ', text })), ...middle(middleA, middleB), ...a.slice(a.length - tail).map(text => ({ mark: ' ', text }))]
}

function middle(a, b) {
  if (a.length * b.length > MOST_CELLS) return [...a.map(text => ({ mark: '-', text })), ...b.map(text => ({ mark: '+', text }))]
  const width = b.length + 1
  const common = new Uint32Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] = a[i] === b[j] ? common[(i + 1) * width + j + 1] + 1 : Math.max(common[(i + 1) * width + j], common[i * width + j + 1])
    }
  }
  const rows = []
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      rows.push({ mark: ' ', text: a[i] })
      i++
      j++
    } else if (i < a.length && (j === b.length || common[(i + 1) * width + j] >= common[i * width + j + 1])) rows.push({ mark: '-', text: a[i++] })
    else rows.push({ mark: '+', text: b[j++] })
  }
  return rows
}

/** The changed rows with three lines around them; null stands for what is left out. */
export function excerpt(rows, around = 3) {
  const near = new Set()
  rows.forEach((row, at) => {
    if (row.mark !== ' ') for (let i = at - around; i <= at + around; i++) near.add(i)
  })
  const out = []
  rows.forEach((row, at) => {
    if (near.has(at)) out.push(row)
    else if (out.length && out.at(-1) !== null) out.push(null)
  })
  if (out.at(-1) === null) out.pop()
  return out
}

// what a program of Node asserts with, for a browser
const say = value => JSON.stringify(value) ?? String(value)
const check = (holds, words) => {
  if (!holds) throw new Error(words)
}
const same = (actual, expected) => check(say(actual) === say(expected), `expected ${say(expected)}, found ${say(actual)}`)

export default {
  ok: value => check(value, `expected something true, found ${say(value)}`),
  equal: (actual, expected) => check(Object.is(actual, expected), `expected ${say(expected)}, found ${say(actual)}`),
  deepEqual: same,
  match: (text, pattern) => check(pattern.test(text), `expected ${pattern}, found ${text}`),
  fail: words => check(false, words),
  async rejects(promise, expected) {
    const failure = await promise.then(() => check(false, 'expected a failure, found none'), thrown => thrown)
    check(expected.prototype instanceof Error ? failure instanceof expected : expected(failure), `found ${failure}`)
  }
}

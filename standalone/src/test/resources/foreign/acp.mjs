import { client, methods, ndJsonStream } from '@agentclientprotocol/sdk'
import { spawn } from 'node:child_process'
import net from 'node:net'
import { PassThrough, Readable, Writable } from 'node:stream'

const [base, crashing, words] = process.argv.slice(2)
const command = JSON.parse(words)
const found = { stdout: true }
const { agent: A } = methods

/** Starts one as an editor does, and keeps what it says of each session. */
const editor = async (url, capabilities = {}, answers = {}) => {
  const child = spawn(command[0], [...command.slice(1), '--url', url], { stdio: ['pipe', 'pipe', 'inherit'] })
  const heard = { updates: [], permissions: [], questions: [], onUpdate: () => {} }
  const out = new PassThrough()
  child.stdout.on('data', chunk => out.write(chunk)).on('end', () => out.end())
  let rest = ''
  child.stdout.on('data', chunk => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()
    for (const line of lines) if (JSON.parse(line).jsonrpc !== '2.0') found.stdout = false
  })
  const app = client({ name: 'test' })
    .onNotification(methods.client.session.update, ({ params }) => {
      heard.updates.push(params.update)
      heard.onUpdate(params.update)
    })
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      heard.permissions.push(params)
      const kind = answers.permission?.(params, heard.permissions.length) ?? 'reject_once'
      return { outcome: { outcome: 'selected', optionId: params.options.find(one => one.kind === kind).optionId } }
    })
    .onRequest(methods.client.elicitation.create, ({ params }) => {
      heard.questions.push(params.message)
      return answers.question?.(params.message) ?? { action: 'decline' }
    })
  const connection = app.connect(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(out)))
  const request = (method, params) => connection.agent.request(method, params)
  heard.init = await request(A.initialize, {
    protocolVersion: 1, clientCapabilities: capabilities, clientInfo: { name: 'test', version: '1' }
  })
  return {
    heard,
    request,
    cancel: sessionId => connection.agent.notify(A.session.cancel, { sessionId }),
    begin: async () => (await request(A.session.new, { cwd: '/home/ada/mill', mcpServers: [] })),
    ask: async (sessionId, ...blocks) => {
      heard.updates.length = 0
      const { stopReason, _meta } = await request(A.session.prompt, {
        sessionId, prompt: blocks.map(one => typeof one === 'string' ? { type: 'text', text: one } : one)
      })
      return { stopReason, task: _meta.millrace.taskId, text: text(heard.updates), updates: [...heard.updates] }
    },
    end: () => new Promise(resolve => { child.on('exit', resolve); child.stdin.end() })
  }
}
const text = (updates, kind = 'agent_message_chunk') =>
  updates.filter(one => one.sessionUpdate === kind).map(one => one.content.text).join('')
const error = async attempt => {
  try { await attempt(); return { code: 0 } } catch (e) { return { code: e.code, message: e.message } }
}

const one = await editor(base, {}, { permission: (_, count) => count === 1 ? 'allow_once' : 'reject_once' })
found.init = one.heard.init
const session = await one.begin()
found.options = session.configOptions
const id = session.sessionId

found.tool = await one.ask(id, 'use a tool')
const streamed = await one.ask(id, 'piece by piece')
found.pieces = streamed.updates.filter(one => one.sessionUpdate === 'agent_message_chunk').map(one => one.content.text)
found.messages = new Set(streamed.updates.map(one => one.messageId).filter(Boolean)).size
found.decided = await one.ask((await one.begin()).sessionId, 'write twice')
found.permissions = one.heard.permissions
const asking = (await one.begin()).sessionId
found.question = await one.ask(asking, 'ask me')
found.answered = await one.ask(asking, 'blue')
found.context = await one.ask(id, 'look at ', { type: 'resource_link', name: 'a.txt', uri: 'file:///a.txt' },
  { type: 'resource', resource: { uri: 'file:///b.txt', text: 'inside of b' } })
found.thoughts = text((await one.ask(id, 'think')).updates, 'agent_thought_chunk')
found.long = (await one.ask(id, 'talk on')).stopReason
found.refused = (await one.ask(id, 'break')).stopReason
found.failed = await error(() => one.ask(id, 'no key'))

// stopped before anything was said, and in the middle of it
const stopped = await one.begin()
const slow = one.ask(stopped.sessionId, 'slow')
one.cancel(stopped.sessionId)
found.cancelled = await slow
one.heard.onUpdate = update => { if (update.content?.text === 'One ') one.cancel(stopped.sessionId) }
found.cut = await one.ask(stopped.sessionId, 'piece by piece')
one.heard.onUpdate = () => {}

// another agent, chosen in the editor
found.chosen = (await one.request(A.session.setConfigOption,
  { sessionId: stopped.sessionId, configId: 'agent', value: 'general' })).configOptions
found.general = await one.ask(stopped.sessionId, 'hello')

found.errors = {
  agent: await error(() => one.request(A.session.setConfigOption,
    { sessionId: stopped.sessionId, configId: 'agent', value: 'nobody' })),
  session: await error(() => one.ask('none', 'hello')),
  load: await error(() => one.request(A.session.load, { sessionId: 'none', cwd: '/', mcpServers: [] })),
  method: await error(() => one.request('session/fly', {})),
  cwd: await error(() => one.request(A.session.new, { cwd: 'here', mcpServers: [] })),
  picture: await error(() => one.ask(id, { type: 'image', data: 'AA==', mimeType: 'image/png' }))
}
found.exit = await one.end()

// another process has the conversation from the log, and an editor with forms answers in them
const replies = { 'Which colour?': 'blue', 'Which size?': 'large', 'Which finish?': 'matt' }
const two = await editor(base, { elicitation: { form: {} } },
  { question: message => ({ action: 'accept', content: { answer: replies[message] } }) })
const listed = []
for (let cursor; ;) {
  const page = await two.request(A.session.list, { cwd: '/home/ada/mill', ...(cursor && { cursor }) })
  listed.push(...page.sessions)
  cursor = page.nextCursor
  if (!cursor) break
}
found.listed = listed.filter(one => one.sessionId === id)
for (const sessionId of [id, asking]) {
  await two.request(A.session.load, { sessionId, cwd: '/home/ada/mill', mcpServers: [] })
}
found.replayed = [...two.heard.updates]
found.painted = await two.ask((await two.begin()).sessionId, 'paint it')
found.asked = two.heard.questions
two.heard.updates.length = 0
await two.request(A.session.resume, { sessionId: stopped.sessionId, cwd: '/home/ada/mill', mcpServers: [] })
found.resumed = two.heard.updates.length
found.next = (await two.ask(stopped.sessionId, 'and now')).text
await two.request(A.session.close, { sessionId: stopped.sessionId })
found.closed = await error(() => two.ask(stopped.sessionId, 'hello'))
await two.end()

// a gateway dies in the middle of a prompt; who stands before both leads to the other one
if (crashing) {
  const port = url => Number(new URL(url).port)
  const balancer = net.createServer(from => {
    const lead = (to, otherwise) => {
      const on = net.connect(to, '127.0.0.1')
      on.on('connect', () => {
        otherwise = undefined
        from.pipe(on).pipe(from)
        on.on('close', () => from.destroy())
      })
      on.on('error', () => otherwise ? lead(otherwise) : from.destroy())
      from.on('error', () => on.destroy()).on('close', () => on.destroy())
    }
    lead(port(crashing), port(base))
  })
  await new Promise(resolve => balancer.listen(0, '127.0.0.1', resolve))
  const three = await editor(`http://127.0.0.1:${balancer.address().port}`)
  const { sessionId } = await three.begin()
  three.heard.onUpdate = update => { if (update.content?.text === 'One ') console.error('KILL') }
  found.survived = await three.ask(sessionId, 'piece by piece')
  await three.end()
}
console.log(JSON.stringify(found))
process.exit(0)

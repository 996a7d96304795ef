import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

const [base, crashing] = process.argv.slice(2)
const found = {}
const connect = async (mode, url, asked = []) => {
  const client = new Client({ name: 'test', version: '1' },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode } })
  client.setRequestHandler('elicitation/create', async request => {
    asked.push(request.params.message)
    return { action: 'accept', content: request.params.message.includes('write_file')
      ? { decision: 'approve' } : { answer: 'blue' } }
  })
  await client.connect(new StreamableHTTPClientTransport(new URL(url + '/mcp')))
  return client
}
const code = async attempt => {
  try { await attempt(); return 0 } catch (e) { return e.code }
}
for (const mode of ['auto', 'legacy']) {
  const asked = []
  const client = await connect(mode, base, asked)
  const call = async (args, options) => client.callTool({ name: 'careful', arguments: args }, options)
  const text = result => result.content[0].text
  const one = found[mode] = { asked, era: client.getProtocolEra() }
  one.tools = (await client.listTools()).tools.map(tool => tool.name)
  one.hello = text(await call({ text: 'hello' }))
  one.progress = []
  await call({ text: 'use a tool' }, { onprogress: progress => one.progress.push(progress.message) })
  one.resources = (await client.listResources()).resources.map(resource => resource.uri)
  one.document = (await client.readResource({ uri: one.resources[0] })).contents[0].text
  const question = await call({ text: 'ask me' })
  one.question = text(question)
  if (mode === 'legacy') {
    one.answered = text(await call({ text: 'blue', taskId: question._meta['millrace/taskId'] }))
  }
  one.approval = text(await call({ text: 'write twice' }))
  one.unknownTool = await code(() => client.callTool({ name: 'general', arguments: { text: 'x' } }))
  one.unknownResource = await code(() => client.readResource({ uri: 'memory:///facts/none.md' }))
  await client.close()
}

// a gateway dies in the middle of a call of each mode; the tasks go on, and are gone on with at another gateway
const tasks = {}
const modes = ['auto', 'legacy']
const dying = await Promise.all(modes.map(mode => connect(mode, crashing)))
found.died = await Promise.all(modes.map((mode, index) =>
  dying[index].callTool({ name: 'careful', arguments: { text: 'piece by piece' } }, {
    // the older protocol looks for a lost stream again until then
    timeout: 10_000,
    onprogress: progress => {
      tasks[mode] ??= progress.message.replace('task ', '')
      if (tasks.auto && tasks.legacy) console.error('KILL')
    }
  }).then(() => false, () => true)))
found.survived = []
found.next = []
for (const mode of modes) {
  let state
  for (let i = 0; i < 100 && state !== 'completed'; i++) {
    state = (await (await fetch(`${base}/v1/tasks/${tasks[mode]}`)).json()).state
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  found.survived.push(state)
  const client = await connect(mode, base)
  found.next.push(
    (await client.callTool({ name: 'careful', arguments: { text: 'and now', taskId: tasks[mode] } })).content[0].text)
}
console.log(JSON.stringify(found))
process.exit(0)

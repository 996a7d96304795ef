import {
  ClientFactory, ClientFactoryOptions, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory
} from '@a2a-js/sdk/client'

const [base, crashing] = process.argv.slice(2)
const own = crypto.randomUUID()
const found = {}
const USER = 1
const states = ['UNSPECIFIED', 'SUBMITTED', 'WORKING', 'COMPLETED', 'FAILED', 'CANCELED', 'INPUT_REQUIRED']
const state = status => states[status.state]
const connect = (binding, url) => new ClientFactory(ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
  transports: [new JsonRpcTransportFactory(), new RestTransportFactory()],
  preferredTransports: [binding],
  cardResolver: new DefaultAgentCardResolver()
})).createFromUrl(`${url}/a2a/careful/`)
const message = (parts, more = {}) => ({
  tenant: '',
  message: {
    messageId: crypto.randomUUID(), contextId: '', taskId: '', role: USER, extensions: [], referenceTaskIds: [],
    parts: parts.map(content => ({
      content: typeof content === 'string' ? { $case: 'text', value: content } : { $case: 'data', value: content },
      filename: '', mediaType: ''
    })),
    ...more
  },
  metadata: undefined,
  configuration: undefined
})
const text = task => task.artifacts.map(artifact => artifact.parts.map(part => part.content.value).join('')).join()
const said = task => task.status.message?.parts.map(part => part.content.value) ?? []
const error = async attempt => {
  try { await attempt(); return 'none' } catch (e) { return e.reason ?? String(e) }
}
/** What a client has of a stream that it puts together as the protocol says. */
const listen = async (stream, onPiece = () => {}) => {
  const heard = { kinds: [], pieces: [], states: [], answer: '' }
  for await (const { payload } of stream) {
    heard.kinds.push(payload.$case)
    if (payload.$case === 'task') heard.task = payload.value.id
    if (payload.$case === 'statusUpdate') heard.states.push(state(payload.value.status))
    if (payload.$case === 'artifactUpdate') {
      const piece = payload.value.artifact.parts.map(part => part.content.value).join('')
      if (piece) heard.pieces.push(piece)
      heard.answer = payload.value.append ? heard.answer + piece : piece
      onPiece(heard)
    }
  }
  return heard
}

for (const binding of ['JSONRPC', 'HTTP+JSON']) {
  const one = found[binding] = {}
  const client = await connect(binding, base)
  const card = await client.getAgentCard()
  one.card = [card.name, card.supportedInterfaces.length, card.capabilities.streaming]
  const hello = message(['hello'])
  const first = await client.sendMessage(hello)
  one.hello = [state(first.status), text(first)]
  one.again = (await client.sendMessage(hello)).id === first.id
  const next = await client.sendMessage(message(['and now'], { contextId: first.contextId }))
  one.next = [text(next), next.contextId === first.contextId, next.id !== first.id]
  one.got = text(await client.getTask({ tenant: '', id: first.id }))
  one.stream = await listen(client.sendMessageStream(message(['piece by piece'])))
  one.tool = (await listen(client.sendMessageStream(message(['use a tool'])))).states

  const question = await client.sendMessage(message(['ask me']))
  one.question = [state(question.status), ...said(question)]
  const blue = message(['blue'], { taskId: question.id, contextId: question.contextId })
  one.answered = text(await client.sendMessage(blue))
  one.answeredAgain = text(await client.sendMessage(blue))
  one.terminal = await error(() => client.sendMessage(message(['more'], { taskId: question.id })))

  const asking = await client.sendMessage(message(['write twice']))
  one.approvals = [state(asking.status), said(asking).length, said(asking)[1].toolName]
  one.gotApprovals = said(await client.getTask({ tenant: '', id: asking.id })).length
  one.words = await error(() => client.sendMessage(message(['yes'], { taskId: asking.id })))
  const decisions = said(asking).slice(1).map(({ callId }, index) => ({ callId, approve: index === 0 }))
  one.decided = text(await client.sendMessage(message(decisions, { taskId: asking.id })))

  const slow = message(['slow'])
  slow.configuration = { acceptedOutputModes: [], returnImmediately: true }
  const running = await client.sendMessage(slow)
  one.running = state(running.status)
  one.cancelled = state((await client.cancelTask({ tenant: '', id: running.id, metadata: undefined })).status)
  one.cancelledAgain = await error(() => client.cancelTask({ tenant: '', id: running.id, metadata: undefined }))
  one.ended = await error(() => listen(client.resubscribeTask({ tenant: '', id: first.id })))
  one.unknown = await error(() => client.getTask({ tenant: '', id: `none-${own}` }))
  const listed = await client.listTasks(
    { tenant: '', contextId: first.contextId, status: 3, pageSize: 1, pageToken: '', includeArtifacts: true })
  const rest = await client.listTasks(
    { tenant: '', contextId: first.contextId, status: 3, pageSize: 1, pageToken: listed.nextPageToken })
  one.listed = [listed.totalSize, listed.tasks[0].id === next.id, text(listed.tasks[0]), rest.tasks[0].id === first.id]
  const failed = await client.sendMessage(message(['break']))
  one.failed = [state(failed.status), ...said(failed)]

  // what is not offered is refused by the protocol's own words
  const push = message(['hello'])
  push.configuration = { acceptedOutputModes: [], returnImmediately: false, taskPushNotificationConfig:
    { tenant: '', id: '', taskId: '', url: 'https://example.org/hook', token: '' } }
  one.push = await error(() => client.sendMessage(push))
  const picture = message(['x'])
  picture.message.parts[0].content = { $case: 'url', value: 'https://example.org/a.png' }
  one.picture = await error(() => client.sendMessage(picture))
}

// a gateway dies in the middle of a stream; another one goes on with the task
if (crashing) {
  const broken = await connect('JSONRPC', crashing)
  // now already: the task does not wait until there is a connection
  const whole = await connect('HTTP+JSON', base)
  let task
  found.died = await listen(broken.sendMessageStream(message(['piece by piece'])), heard => {
    task = heard.task
    if (heard.answer === 'One ') console.error('KILL')
  }).then(() => false, () => true)
  found.survived = await listen(whole.resubscribeTask({ tenant: '', id: task }))
  found.sameTask = found.survived.task === task
}
console.log(JSON.stringify(found))
process.exit(0)

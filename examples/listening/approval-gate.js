// Lets an agent call what needs an approval as long as a rule of yours says so: node approval-gate.js ["what to do"]
import { Millrace } from '@millrace/client'

const ALLOWED = /^[a-z-]+\.txt$/

const millrace = new Millrace({
  baseUrl: process.env.MILLRACE_URL ?? 'http://localhost:8080',
  token: process.env.MILLRACE_TOKEN
})

const run = await millrace.run(
  process.argv[2] ?? 'Write "oil the gate" to todo.txt',
  async event => {
    if (event.type !== 'APPROVAL_REQUESTED') {
      return
    }
    const { toolName, params } = event.payload
    if (toolName === 'write_file' && ALLOWED.test(params.path)) {
      console.log(`approved: ${toolName} ${params.path}`)
      await event.approve({ by: 'approval-gate.js' })
    } else {
      console.log(`rejected: ${toolName} ${params.path}`)
      await event.reject({ by: 'approval-gate.js', reason: 'Only text files in the workspace itself may be written.' })
    }
  },
  { agents: ['careful'] }
)
const outcome = await run.done
console.log(outcome.status === 'completed' ? outcome.text : outcome)

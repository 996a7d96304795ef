// Prints what the agent says while it says it: node streaming.js ["what to say"]
import { Millrace } from '@millrace/client'

const millrace = new Millrace({
  baseUrl: process.env.MILLRACE_URL ?? 'http://localhost:8080',
  token: process.env.MILLRACE_TOKEN,
  callbacks: { onContentStream: event => void process.stdout.write(event.payload.token) }
})

const run = await millrace.run(
  process.argv[2] ?? 'Which files are in the workspace?',
  event => {
    if (event.type === 'TOOL_CALL') {
      console.log(`[${event.payload.toolName} ${JSON.stringify(event.payload.params)}]`)
    } else if (event.type === 'TOKENS_VOID') {
      console.log('\n[the model is asked again]')
    }
  },
  { stream: true }
)
const outcome = await run.done
console.log(`\n${outcome.status}`)
process.exitCode = outcome.status === 'completed' ? 0 : 1

// Says something that a processor holds, and reads what it says instead: node custom-processor.js
import { Millrace } from '@millrace/client'

const millrace = new Millrace({
  baseUrl: process.env.MILLRACE_URL ?? 'http://localhost:8080',
  token: process.env.MILLRACE_TOKEN
})

for (const needsApproval of [false, true]) {
  const run = await millrace.run({ content: 'Oil the gate.', metadata: { needsApproval } })
  const outcome = await run.done
  if (outcome.status === 'completed') {
    console.log(outcome.text)
    continue
  }
  // another message of the same session has taken its place
  let messages = []
  while (messages.length === 0) {
    await new Promise(resolve => setTimeout(resolve, 100))
    messages = await millrace.session(run.threadId).messages()
  }
  console.log(messages[0].content)
}

// Loops over what happens, and goes on with the same thread: node async-iterator.js
import { Millrace } from '@millrace/client'

const millrace = new Millrace({
  baseUrl: process.env.MILLRACE_URL ?? 'http://localhost:8080',
  token: process.env.MILLRACE_TOKEN
})

const first = await millrace.run('Which files are in the workspace?')
for await (const event of first.events) {
  if (event.type === 'NEW_MESSAGE') {
    console.log(`${event.payload.sender.name}: ${event.payload.content}`)
  }
}

const second = await millrace.run(
  { content: 'What does notes.txt say?', threadId: first.threadId },
  undefined,
  { ackMode: 'onComplete' }
)
console.log(`same thread: ${second.threadId === first.threadId}, ${(await second.done).status}`)

// Two agents and a person in one thread, until nobody has the word any more: node multi-agent.js ["what to say"]
import { Millrace } from '@millrace/client'

const millrace = new Millrace({
  baseUrl: process.env.MILLRACE_URL ?? 'http://localhost:8080',
  token: process.env.MILLRACE_TOKEN
})

const run = await millrace.run(
  { content: process.argv[2] ?? '@planner, make a plan for the garden.', sender: { name: 'Ann' } },
  event => {
    if (event.type === 'NEW_MESSAGE') {
      console.log(`${event.payload.sender.name}: ${event.payload.content}`)
    }
  },
  { agents: ['planner', 'critic'] }
)
console.log((await run.done).status)

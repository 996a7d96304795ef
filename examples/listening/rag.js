// Takes a text in and asks about it: node rag.js
import { Millrace } from '@millrace/client'

const millrace = new Millrace({
  baseUrl: process.env.MILLRACE_URL ?? 'http://localhost:8080',
  token: process.env.MILLRACE_TOKEN
})

const made = await millrace.http.post('/v1/knowledge/documents', {
  source: 'text://The gate of the garden is oiled on the first Monday of each month.'
})
let document
do {
  await new Promise(resolve => setTimeout(resolve, 300))
  document = await millrace.http.get(`/v1/knowledge/documents/${made.documentId}`).catch(() => ({ status: 'pending' }))
} while (document.status === 'pending' || document.status === 'processing')
console.log(document.status)

const run = await millrace.run(
  'When is the gate oiled? Look it up with search_knowledge.',
  event => {
    if (event.type === 'TOOL_CALL') {
      console.log(`[${event.payload.toolName}]`)
    }
  }
)
console.log((await run.done).text)

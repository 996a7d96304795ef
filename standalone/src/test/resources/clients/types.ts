// what a program in TypeScript may say with the types of the client; compiled, never run
import { Millrace, TaskFailedError, type FeedEvent, type RunEvent, type RunOutcome } from '@millrace/client'

const millrace = new Millrace({ baseUrl: 'http://localhost:8080', namespace: 'acme', token: async () => 'jwt', timeout: '30s' })

function said(event: FeedEvent): string {
  switch (event.type) {
    case 'text':
      return event.delta
    case 'approval':
      void event.approve({ by: 'ada', params: { ...event.params, x: 1 } })
      return event.toolName
    case 'question':
      void event.answer('blue')
      return event.question
    case 'failed':
      return `${event.code}: ${event.error}`
    default:
      return event.wireType
  }
}

export async function all(signal: AbortSignal): Promise<string> {
  const task = await millrace.agent('careful').start('…', { id: 'order-17', session: 'chat-42', ttl: 5_000, signal })
  for await (const event of task.events({ after: '1:1', text: true })) {
    console.log(said(event), event.cursor)
  }
  try {
    const { text, usage } = await task.result({ timeout: '10m' })
    return `${text} ${usage?.inputTokens ?? 0}`
  } catch (failure) {
    if (failure instanceof TaskFailedError) {
      const code: string = failure.code
      return code
    }
    throw failure
  }
}

export async function listen(): Promise<RunOutcome> {
  const run = await millrace.run({ content: 'x', threadId: 't' }, (event: RunEvent) => console.log(event.payload.token), {
    stream: true, ackMode: 'onComplete', ttl: '1m', agents: ['careful']
  })
  for await (const { type } of run.events) console.log(type)
  // @ts-expect-error a run takes no other mode
  await millrace.run('x', undefined, { ackMode: 'never' })
  // @ts-expect-error a time has a unit
  await millrace.start('x', { ttl: 'soon' })
  return run.done
}

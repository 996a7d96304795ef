// Gives the order desk a task over HTTP and shows what comes of it, while it comes; or watches a task that there is already.
// A connection that breaks is made again, and goes on exactly behind what was seen. Needs Node and nothing else.
//   node client.js "Where is order A-1002?" [--customer Ada]
//   node client.js --task ID
// MILLRACE_URL says where Millrace is, and MILLRACE_TOKEN has a key if it wants one; with DROP_EVERY=3 the connection is
// dropped after every three events, to see that nothing is lost and nothing comes twice.
import { parseArgs } from 'node:util';

const base = process.env.MILLRACE_URL ?? 'http://localhost:8080';
const login = process.env.MILLRACE_TOKEN ? { authorization: `Bearer ${process.env.MILLRACE_TOKEN}` } : {};
const dropEvery = Number(process.env.DROP_EVERY ?? 0);
const { values, positionals } = parseArgs({
  options: { task: { type: 'string' }, customer: { type: 'string', default: 'Ada' } },
  allowPositionals: true,
});

async function start(text, customer) {
  const response = await fetch(`${base}/v1/tasks`, {
    method: 'POST',
    headers: { ...login, 'content-type': 'application/json' },
    body: JSON.stringify({ text, taskType: 'order-desk', metadata: { customer } }),
  });
  const answer = await response.json();
  if (response.status !== 202) {
    throw new Error(`${answer.title}: ${answer.detail}`);
  }
  return answer.taskId;
}

/** The events of a stream of server-sent events, as {id, event, data}. */
async function* read(body) {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
      const fields = { data: '' };
      for (const line of rest.slice(0, end).split('\n')) {
        const [, name, value] = /^([a-z]+): ?(.*)$/.exec(line) ?? [];
        if (name !== undefined) {
          fields[name] = name === 'data' ? fields.data + value : value;
        }
      }
      rest = rest.slice(end + 2);
      if (fields.data !== '') {
        yield fields; // what has no data is a comment: "I am alive"
      }
    }
  }
}

const ENDS = new Set(['TASK_COMPLETED', 'TASK_FAILED', 'TASK_CANCELLED']);

/** Every event of the task, once and in order, over as many connections as it takes. */
async function* watch(taskId) {
  let last;
  let drops = 0;
  for (;;) {
    const dropped = new AbortController();
    try {
      const response = await fetch(`${base}/v1/tasks/${taskId}/stream`, {
        headers: last === undefined ? login : { ...login, 'last-event-id': last },
        signal: dropped.signal,
      });
      if (response.status === 204) {
        return drops; // it has ended, and all was told
      }
      if (response.status >= 400 && response.status !== 429 && response.status < 500) {
        throw new RangeError(`${response.status}: ${await response.text()}`);
      }
      if (response.status !== 200) {
        throw new Error(`status ${response.status}`); // it is busy, or not ready yet
      }
      let seen = 0;
      for await (const { id, data } of read(response.body)) {
        last = id ?? last;
        const entry = JSON.parse(data);
        yield entry;
        if (ENDS.has(entry.type)) {
          return drops; // no need to come back and be told that there is no more
        }
        if (++seen === dropEvery) {
          drops++;
          break;
        }
      }
    } catch (e) {
      if (e instanceof RangeError) {
        throw e; // asking again would not help
      }
      drops++;
      await new Promise((done) => setTimeout(done, 1000));
    } finally {
      dropped.abort();
    }
  }
}

const taskId = values.task ?? (await start(positionals[0] ?? 'Where is order A-1002?', values.customer));
console.log(`task ${taskId}`);

const events = watch(taskId);
for (let next = await events.next(); ; next = await events.next()) {
  if (next.done) {
    if (dropEvery > 0) {
      console.log(`(dropped ${next.value} times)`);
    }
    break;
  }
  const { type, payload } = next.value;
  switch (type) {
    case 'TOOL_CALL_REQUESTED':
      console.log(`tool ${payload.toolName} ${JSON.stringify(payload.params)}`);
      break;
    case 'TOOL_CALL_FAILED':
      console.log(`  failed: ${payload.error}`);
      break;
    case 'APPROVAL_REQUESTED':
      console.log(`approval needed: ${payload.toolName} ${JSON.stringify(payload.params)}`);
      break;
    case 'APPROVAL_DECIDED':
      console.log(`  ${payload.decision}`);
      break;
    case 'TASK_COMPLETED':
      console.log(payload.result.response);
      console.log('done');
      break;
    case 'TASK_FAILED':
    case 'TASK_CANCELLED':
      console.log(`${type}: ${payload.error ?? payload.reason ?? ''}`);
      process.exitCode = 1;
      break;
  }
}

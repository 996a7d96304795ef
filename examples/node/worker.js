// A worker for the toolset "words", with an ordinary consumer group. Several may run, also beside the one in Python: they
// share the work. connection.js says what it takes from the environment, docs/events.md is the contract.
import { createHash } from 'node:crypto';
import { CompressionTypes, PartitionAssigners, Partitioners } from 'kafkajs';
import { kafka as connect, prefix } from './connection.js';

const name = process.env.WORKER_NAME ?? `node-${process.pid}`;

const toolset = 'words';
const tools = [
  {
    name: 'count_words',
    description: 'Counts the words of a text.',
    parameters: {
      type: 'object',
      properties: {
        text: { type: 'string', description: 'What to count in.' },
        // only so that one can watch two workers share the work, and kill one
        delayMs: { type: 'integer', minimum: 0, maximum: 60000, description: 'How long to take. Absent = 0.' },
      },
      required: ['text'],
    },
    toolset,
    timeoutMs: 30000,
    sideEffects: 'READ_ONLY',
  },
];

// What is answered twice must not be done twice. A worker that pays for something keeps this where a restart finds it.
const answered = new Map();

// A model may send a number as a text; a worker checks its arguments itself, nobody has done it before.
async function run(toolName, params, callId) {
  if (toolName !== 'count_words') {
    throw new Error(`Tool "${toolName}" not found`);
  }
  if (typeof params.text !== 'string') {
    throw new Error('VALIDATION ERROR: text: expected a text');
  }
  if (!answered.has(callId)) {
    await new Promise((done) => setTimeout(done, Number(params.delayMs ?? 0)));
    const words = params.text.split(/\s+/).filter((word) => word !== '');
    answered.set(callId, { words: words.length, by: name });
  }
  return answered.get(callId);
}

const text = (value) => (value === undefined || value === null ? undefined : value.toString());

/** The key that keeps a conversation in order: the session's id, else the task's. */
function sessionKey(headers) {
  const key = headers.ce_sessionid ?? headers.ce_subject;
  const namespace = headers.ce_namespace;
  if (namespace && namespace !== 'default') {
    return `${namespace}/${key}`;
  }
  return key.includes('/') ? `default/${key}` : key;
}

function reply(request, type, payload) {
  const whose = ['ce_subject', 'ce_sessionid', 'ce_namespace', 'ce_correlationid'];
  // the token shows that the request was ours: without it the answer is not believed
  const copied = [...whose, 'ce_replytoken', 'traceparent', 'tracestate'];
  const headers = {
    ce_specversion: '1.0',
    // the same for each answer to this call, so that a second one is known as such
    ce_id: createHash('sha256').update(`${payload.callId}\n${type}`).digest('hex').slice(0, 32),
    ce_type: type,
    ce_source: `examples/${name}`,
    ce_time: new Date().toISOString(),
    ce_causationid: request.ce_causationid ?? request.ce_id,
    'content-type': 'application/json',
  };
  for (const header of copied) {
    if (request[header] !== undefined) {
      headers[header] = request[header];
    }
  }
  return { key: sessionKey(request), headers, value: JSON.stringify(payload) };
}

const kafka = connect(name);
// the default partitioner is Java's, which keeps the order within a conversation
const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner, idempotent: true });
// kafkajs has a name of its own for the strategy that everybody else calls "roundrobin"; members of one group must agree
const roundRobin = (config) => ({ ...PartitionAssigners.roundRobin(config), name: 'roundrobin' });
const consumer = kafka.consumer({
  partitionAssigners: [roundRobin],
  groupId: `${prefix}${toolset}`.replaceAll('.', '-'),
  // how long the others wait before they take over what a killed one held
  sessionTimeout: 10000,
  heartbeatInterval: 1000,
  readUncommitted: false,
});

async function handle({ topic, partition, message }) {
  const headers = Object.fromEntries(Object.entries(message.headers ?? {}).map(([key, value]) => [key, text(value)]));
  let request;
  try {
    request = JSON.parse(text(message.value));
    if (headers.ce_type !== 'TOOL_CALL_REQUESTED' || typeof request.callId !== 'string' || !headers.ce_subject) {
      throw new Error('no TOOL_CALL_REQUESTED of a task');
    }
  } catch (e) {
    await send(`${prefix}dead-letters`, {
      key: message.key,
      value: message.value,
      headers: {
        ...message.headers,
        'millrace-reason': 'bad_json',
        'millrace-detail': e.message,
        'millrace-origin-topic': topic,
        'millrace-origin-partition': String(partition),
        'millrace-origin-offset': message.offset,
      },
    });
    return;
  }
  const { callId, toolName } = request;
  const begun = Date.now();
  console.log(`begun ${callId}`);
  try {
    const result = await run(toolName, request.params ?? {}, callId);
    const payload = { callId, toolName, result, durationMs: Date.now() - begun };
    await send(`${prefix}events.tool`, reply(headers, 'TOOL_CALL_COMPLETED', payload));
  } catch (e) {
    const payload = { callId, toolName, error: e.message, code: 'execution_error', durationMs: Date.now() - begun };
    await send(`${prefix}events.tool`, reply(headers, 'TOOL_CALL_FAILED', payload));
  }
  console.log(`answered ${callId}`);
}

// acks: -1 = all; returns when the broker has it, and only then is the request's offset committed
const send = (topic, message) => producer.send({ topic, acks: -1, compression: CompressionTypes.None, messages: [message] });

await producer.connect();
await producer.send({
  topic: `${prefix}definitions`,
  acks: -1,
  messages: tools.map((tool) => ({ key: `tool/${tool.name}`, value: JSON.stringify(tool) })),
});
await consumer.connect();
await consumer.subscribe({ topic: `${prefix}requests.${toolset}`, fromBeginning: true });
consumer.on(consumer.events.GROUP_JOIN, ({ payload }) =>
  console.log(`ready ${JSON.stringify(payload.memberAssignment)}`),
);
await consumer.run({
  autoCommit: false,
  // as many at a time as there are partitions; one after the other on each
  partitionsConsumedConcurrently: 8,
  eachBatch: async ({ batch, heartbeat, isRunning, isStale }) => {
    for (const message of batch.messages) {
      if (!isRunning() || isStale()) {
        return;
      }
      // a slow call must not look like a dead worker
      const alive = setInterval(() => heartbeat().catch(() => {}), 1000);
      try {
        await handle({ topic: batch.topic, partition: batch.partition, message });
      } finally {
        clearInterval(alive);
      }
      const next = (BigInt(message.offset) + 1n).toString();
      await consumer.commitOffsets([{ topic: batch.topic, partition: batch.partition, offset: next }]);
    }
  },
});

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    await consumer.disconnect();
    await producer.disconnect();
    process.exit(0);
  });
}

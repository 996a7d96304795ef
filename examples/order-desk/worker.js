// The carrier: a worker for the toolset "shipping" with one tool, track_parcel. examples/node/worker.js says more about
// each part, docs/events.md is the contract. Takes KAFKA_BOOTSTRAP_SERVERS, MILLRACE_PREFIX and, as
// examples/node/connection.js does for every kind of login, the user and password of `./millrace up --token` from the environment.
import { createHash } from 'node:crypto';
import { Kafka, logLevel, PartitionAssigners, Partitioners } from 'kafkajs';

const brokers = (process.env.KAFKA_BOOTSTRAP_SERVERS ?? 'localhost:9092').split(',');
const prefix = process.env.MILLRACE_PREFIX ?? 'millrace.';
const toolset = 'shipping';

const trackParcel = {
  name: 'track_parcel',
  description: 'Tells where a parcel is, as the carrier knows.',
  parameters: {
    type: 'object',
    properties: { parcel: { type: 'string', description: 'The number of the parcel, such as P-77.' } },
    required: ['parcel'],
    additionalProperties: false,
  },
  toolset,
  timeoutMs: 10000,
  sideEffects: 'READ_ONLY',
};

const parcels = {
  'P-77': { place: 'with you since Tuesday', due: 'no more' },
  'P-78': { place: 'on a barge near Kinderdijk', due: 'tomorrow' },
};

/** The result of a call; what it throws is what the model reads. Called again for the same call, it answers the same. */
function run(toolName, params) {
  if (toolName !== trackParcel.name) {
    throw new Error(`Tool "${toolName}" not found`);
  }
  if (!(params.parcel in parcels)) {
    throw new Error(`The carrier knows no parcel ${params.parcel}.`);
  }
  return parcels[params.parcel];
}

function answer({ callId, toolName, params }) {
  const begun = Date.now();
  try {
    const result = run(toolName, params ?? {});
    return ['TOOL_CALL_COMPLETED', { callId, toolName, result, durationMs: Date.now() - begun }];
  } catch (e) {
    const failed = { callId, toolName, error: e.message, code: 'execution_error', durationMs: Date.now() - begun };
    return ['TOOL_CALL_FAILED', failed];
  }
}

/** The answer to a request: headers that say whose it is, and that it was asked for, go back; the id is the call's. */
function reply(request, type, payload) {
  const headers = {
    ce_specversion: '1.0',
    ce_id: createHash('sha256').update(`${payload.callId}\n${type}`).digest('hex').slice(0, 32),
    ce_type: type,
    ce_source: 'examples/order-desk',
    ce_time: new Date().toISOString(),
    ce_causationid: request.ce_causationid ?? request.ce_id,
    'content-type': 'application/json',
  };
  const whose = ['ce_subject', 'ce_sessionid', 'ce_namespace', 'ce_correlationid'];
  for (const name of [...whose, 'ce_replytoken', 'traceparent', 'tracestate']) {
    if (request[name] !== undefined) {
      headers[name] = request[name];
    }
  }
  // of a namespace of its own there would be more to the key, see examples/node/worker.js
  return { key: headers.ce_sessionid ?? headers.ce_subject, headers, value: JSON.stringify(payload) };
}

const { KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password } = process.env;
const sasl = username === undefined ? undefined : { mechanism: 'plain', username, password };
const kafka = new Kafka({ clientId: 'carrier', brokers, sasl, logLevel: logLevel.WARN });
const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner, idempotent: true });
const roundRobin = (config) => ({ ...PartitionAssigners.roundRobin(config), name: 'roundrobin' });
const consumer = kafka.consumer({
  groupId: `${prefix}${toolset}`.replaceAll('.', '-'),
  partitionAssigners: [roundRobin],
  readUncommitted: false,
});

// acks: -1 = all; only when the broker has the answer is the request committed
const send = (topic, message) => producer.send({ topic: `${prefix}${topic}`, acks: -1, messages: [message] });

await producer.connect();
await send('definitions', { key: `tool/${trackParcel.name}`, value: JSON.stringify(trackParcel) });
await consumer.connect();
await consumer.subscribe({ topic: `${prefix}requests.${toolset}`, fromBeginning: true });
consumer.on(consumer.events.GROUP_JOIN, () => console.log(`The carrier answers, for the toolset ${toolset}.`));
await consumer.run({
  autoCommit: false,
  eachMessage: async ({ topic, partition, message }) => {
    const headers = Object.fromEntries(Object.entries(message.headers ?? {}).map(([k, v]) => [k, v?.toString()]));
    try {
      const request = JSON.parse(message.value?.toString() ?? '');
      const [type, payload] = answer(request);
      await send('events.tool', reply(headers, type, payload));
      console.log(`${request.toolName} ${JSON.stringify(request.params)}: ${type}`);
    } catch (e) {
      if (!(e instanceof SyntaxError)) {
        throw e; // the broker: kafkajs tries again
      }
      const reason = { 'millrace-reason': 'bad_json', 'millrace-detail': e.message, 'millrace-origin-topic': topic };
      await send('dead-letters', { key: message.key, value: message.value, headers: { ...message.headers, ...reason } });
    }
    const offset = (BigInt(message.offset) + 1n).toString();
    await consumer.commitOffsets([{ topic, partition, offset }]);
  },
});

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    await consumer.disconnect();
    await producer.disconnect();
    process.exit(0);
  });
}

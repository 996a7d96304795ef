// Starts a task with a plain Kafka client and prints its answer, read from the journal. Nothing of Millrace's HTTP API.
// node ask.js "How many words has this sentence?"
import { randomUUID } from 'node:crypto';
import { Partitioners } from 'kafkajs';
import { kafka as connect, prefix } from './connection.js';

const question = process.argv[2] ?? 'How many words has this sentence?';
const taskId = randomUUID();

const kafka = connect('ask');
const consumer = kafka.consumer({ groupId: `ask-${taskId}`, readUncommitted: false });
const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner, idempotent: true });

const joined = new Promise((done) => consumer.on(consumer.events.GROUP_JOIN, done));
await consumer.connect();
// before the question is asked; from the beginning, so that no answer is missed while the group forms
await consumer.subscribe({ topic: `${prefix}journal`, fromBeginning: true });
const ended = new Promise((done) => {
  consumer.run({
    eachMessage: async ({ message }) => {
      const type = message.headers?.ce_type?.toString();
      if (message.headers?.ce_subject?.toString() === taskId && /^TASK_(COMPLETED|FAILED|CANCELLED)$/.test(type)) {
        done({ type, payload: JSON.parse(message.value.toString()) });
      }
    },
  });
});
await joined;

await producer.connect();
await producer.send({
  topic: `${prefix}events.external`,
  acks: -1,
  messages: [
    {
      // the task's id is the id of the event that starts it; a task without a session is a conversation of its own
      key: taskId,
      headers: { ce_id: taskId, ce_type: 'MESSAGE_RECEIVED', ce_source: 'examples/ask.js' },
      value: JSON.stringify({ text: question }),
    },
  ],
});

const { type, payload } = await ended;
console.log(type === 'TASK_COMPLETED' ? payload.result.response : `${type}: ${JSON.stringify(payload)}`);
await producer.disconnect();
await consumer.disconnect();
process.exit(type === 'TASK_COMPLETED' ? 0 : 1);

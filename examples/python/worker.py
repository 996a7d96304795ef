"""A worker for the toolset "words", with an ordinary consumer group.

Several may run, also beside the one in Node: they share the work. connection.py says what it takes from the environment,
docs/events.md is the contract.
"""

import hashlib
import json
import os
import signal
import sys
import time
from datetime import datetime, timezone

from confluent_kafka import Consumer, KafkaException, Producer
from connection import KAFKA, PREFIX

NAME = os.environ.get("WORKER_NAME", f"python-{os.getpid()}")
TOOLSET = "words"
# ce_replytoken shows that the request was ours: without it the answer is not believed
COPIED = ("ce_subject", "ce_sessionid", "ce_namespace", "ce_correlationid", "ce_replytoken")
COPIED += ("traceparent", "tracestate")

TOOLS = [
    {
        "name": "count_words",
        "description": "Counts the words of a text.",
        "parameters": {
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "What to count in."},
                # only so that one can watch two workers share the work, and kill one
                "delayMs": {
                    "type": "integer",
                    "minimum": 0,
                    "maximum": 60000,
                    "description": "How long to take. Absent = 0.",
                },
            },
            "required": ["text"],
        },
        "toolset": TOOLSET,
        "timeoutMs": 30000,
        "sideEffects": "READ_ONLY",
    }
]

# What is answered twice must not be done twice. A worker that pays for something keeps this where a restart finds it.
answered = {}


# A model may send a number as a text; a worker checks its arguments itself, nobody has done it before.
def run(tool_name, params, call_id):
    if tool_name != "count_words":
        raise ValueError(f'Tool "{tool_name}" not found')
    if not isinstance(params.get("text"), str):
        raise ValueError("VALIDATION ERROR: text: expected a text")
    if call_id not in answered:
        time.sleep(float(params.get("delayMs", 0)) / 1000)
        answered[call_id] = {"words": len(params["text"].split()), "by": NAME}
    return answered[call_id]


def session_key(headers):
    """The key that keeps a conversation in order: the session's id, else the task's."""
    key = headers.get("ce_sessionid") or headers["ce_subject"]
    namespace = headers.get("ce_namespace", "default")
    if namespace != "default":
        return f"{namespace}/{key}"
    return f"default/{key}" if "/" in key else key


class Worker:
    def __init__(self):
        self.running = True
        self.producer = Producer(
            {
                **KAFKA,
                "acks": "all",
                "enable.idempotence": True,
                # Java's, which keeps the order within a conversation
                "partitioner": "murmur2_random",
            }
        )
        self.consumer = Consumer(
            {
                **KAFKA,
                "group.id": f"{PREFIX}{TOOLSET}".replace(".", "-"),
                # the strategy that kafkajs has too, or the two could not be in one group
                "partition.assignment.strategy": "roundrobin",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                # how long the others wait before they take over what a killed one held
                "session.timeout.ms": 10000,
                "heartbeat.interval.ms": 1000,
                # longer than the slowest call
                "max.poll.interval.ms": 300000,
            }
        )

    def send(self, topic, key, value, headers):
        """Returns when the broker has it."""
        failures = []
        self.producer.produce(
            topic, key=key, value=value, headers=headers, on_delivery=lambda error, _: error and failures.append(error)
        )
        self.producer.flush()
        if failures:
            raise KafkaException(failures[0])

    def publish(self):
        for tool in TOOLS:
            self.send(f"{PREFIX}definitions", f"tool/{tool['name']}", json.dumps(tool), [])

    def reply(self, request, event_type, payload):
        digest = hashlib.sha256(f"{payload['callId']}\n{event_type}".encode()).hexdigest()
        headers = {
            "ce_specversion": "1.0",
            # the same for each answer to this call, so that a second one is known as such
            "ce_id": digest[:32],
            "ce_type": event_type,
            "ce_source": f"examples/{NAME}",
            "ce_time": datetime.now(timezone.utc).isoformat().replace("+00:00", "Z"),
            "ce_causationid": request.get("ce_causationid", request["ce_id"]),
            "content-type": "application/json",
        }
        headers.update({header: request[header] for header in COPIED if header in request})
        self.send(f"{PREFIX}events.tool", session_key(request), json.dumps(payload), list(headers.items()))

    def handle(self, message):
        raw = message.headers() or []
        headers = {key: value.decode() for key, value in raw if value is not None}
        try:
            request = json.loads(message.value())
            if headers.get("ce_type") != "TOOL_CALL_REQUESTED" or "ce_subject" not in headers:
                raise ValueError("no TOOL_CALL_REQUESTED of a task")
            call_id, tool_name = request["callId"], request["toolName"]
        except (ValueError, KeyError, TypeError) as e:
            origin = [
                ("millrace-reason", "bad_json"),
                ("millrace-detail", str(e)),
                ("millrace-origin-topic", message.topic()),
                ("millrace-origin-partition", str(message.partition())),
                ("millrace-origin-offset", str(message.offset())),
            ]
            self.send(f"{PREFIX}dead-letters", message.key(), message.value(), raw + origin)
            return
        begun = time.monotonic()
        print(f"begun {call_id}", flush=True)
        payload = {"callId": call_id, "toolName": tool_name}
        try:
            payload["result"] = run(tool_name, request.get("params") or {}, call_id)
            event_type = "TOOL_CALL_COMPLETED"
        except Exception as e:  # whatever a tool does wrong is an answer, for the task waits
            payload.update(error=str(e), code="execution_error")
            event_type = "TOOL_CALL_FAILED"
        payload["durationMs"] = int((time.monotonic() - begun) * 1000)
        self.reply(headers, event_type, payload)
        print(f"answered {call_id}", flush=True)

    def work(self):
        self.publish()
        self.consumer.subscribe(
            [f"{PREFIX}requests.{TOOLSET}"],
            on_assign=lambda _, partitions: print(f"ready {[p.partition for p in partitions]}", flush=True),
        )
        while self.running:
            message = self.consumer.poll(0.5)
            if message is None:
                continue
            if message.error():
                print(message.error(), file=sys.stderr)
                continue
            self.handle(message)
            # only now that the answer is with the broker
            self.consumer.commit(message=message, asynchronous=False)
        self.consumer.close()

    def stop(self, *_):
        self.running = False


def main():
    worker = Worker()
    signal.signal(signal.SIGTERM, worker.stop)
    signal.signal(signal.SIGINT, worker.stop)
    worker.work()


if __name__ == "__main__":
    main()

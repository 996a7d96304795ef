"""Starts a task with a plain Kafka client and prints its answer, read from the journal. Nothing of Millrace's HTTP API.

python ask.py "How many words has this sentence?"
"""

import json
import sys
import uuid

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition
from connection import KAFKA, PREFIX

ENDS = ("TASK_COMPLETED", "TASK_FAILED", "TASK_CANCELLED")


def ask(question):
    task_id = str(uuid.uuid4())
    producer = Producer({**KAFKA, "acks": "all", "partitioner": "murmur2_random"})
    # the task's id is the id of the event that starts it; a task without a session is a conversation of its own
    producer.produce(
        f"{PREFIX}events.external",
        key=task_id,
        value=json.dumps({"text": question}),
        headers={"ce_id": task_id, "ce_type": "MESSAGE_RECEIVED", "ce_source": "examples/ask.py"},
    )
    producer.flush()
    # no group is needed to read along
    consumer = Consumer(
        {**KAFKA, "group.id": "unused", "enable.auto.commit": False, "isolation.level": "read_committed"}
    )
    journal = f"{PREFIX}journal"
    partitions = consumer.list_topics(journal).topics[journal].partitions
    consumer.assign([TopicPartition(journal, partition, OFFSET_BEGINNING) for partition in partitions])
    while True:
        message = consumer.poll(1)
        if message is None or message.error():
            continue
        headers = {key: value.decode() for key, value in message.headers() or []}
        if headers.get("ce_subject") == task_id and headers.get("ce_type") in ENDS:
            consumer.close()
            return headers["ce_type"], json.loads(message.value())


if __name__ == "__main__":
    ended, payload = ask(sys.argv[1] if len(sys.argv) > 1 else "How many words has this sentence?")
    print(payload["result"]["response"] if ended == "TASK_COMPLETED" else f"{ended}: {json.dumps(payload)}")
    sys.exit(0 if ended == "TASK_COMPLETED" else 1)

"""Where Kafka is and how to log in there, from the environment, as the settings of confluent-kafka.

KAFKA_BOOTSTRAP_SERVERS, KAFKA_SECURITY_PROTOCOL, KAFKA_SASL_… and KAFKA_SSL_… are librdkafka's settings of these names:
KAFKA_SASL_USERNAME is sasl.username.
"""

import os
import re

PREFIX = os.environ.get("MILLRACE_PREFIX", "millrace.")

KAFKA = {"bootstrap.servers": "localhost:9092"}
for name, value in os.environ.items():
    if re.match("KAFKA_(BOOTSTRAP_SERVERS|SECURITY_PROTOCOL|SASL_|SSL_)", name):
        KAFKA[name[len("KAFKA_") :].lower().replace("_", ".")] = value

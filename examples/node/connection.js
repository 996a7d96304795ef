// Where Kafka is and how to log in there, from the environment: KAFKA_BOOTSTRAP_SERVERS, KAFKA_SECURITY_PROTOCOL (PLAINTEXT,
// SSL, SASL_PLAINTEXT, SASL_SSL), KAFKA_SASL_MECHANISM (PLAIN, SCRAM-SHA-256, SCRAM-SHA-512), KAFKA_SASL_USERNAME,
// KAFKA_SASL_PASSWORD and KAFKA_SSL_CA_LOCATION, a file with certificates.
import { readFileSync } from 'node:fs';
import { Kafka, logLevel } from 'kafkajs';

const env = process.env;
const protocol = env.KAFKA_SECURITY_PROTOCOL ?? 'PLAINTEXT';

export const prefix = env.MILLRACE_PREFIX ?? 'millrace.';

export const kafka = (clientId) =>
  new Kafka({
    clientId,
    brokers: (env.KAFKA_BOOTSTRAP_SERVERS ?? 'localhost:9092').split(','),
    ssl: protocol.endsWith('SSL') && (env.KAFKA_SSL_CA_LOCATION ? { ca: [readFileSync(env.KAFKA_SSL_CA_LOCATION)] } : true),
    sasl: protocol.startsWith('SASL')
      ? {
          mechanism: (env.KAFKA_SASL_MECHANISM ?? 'PLAIN').toLowerCase(),
          username: env.KAFKA_SASL_USERNAME,
          password: env.KAFKA_SASL_PASSWORD,
        }
      : undefined,
    logLevel: logLevel.WARN,
  });

package dev.millrace.kafka;

import dev.millrace.schemas.Redaction;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.producer.ProducerConfig;

/**
 * Settings of Kafka's clients, or of Kafka Streams, by the names that Kafka documents: {@code bootstrap.servers},
 * whatever security needs, and what the purpose of a client asks for. Cannot change.
 *
 * @param values as Kafka's constructors take them; none is {@code null}
 */
public record ClientSettings(Map<String, Object> values) {

    /** None, so that Kafka's own defaults hold. */
    public static final ClientSettings NONE = new ClientSettings(Map.of());

    /** Copies the map. */
    public ClientSettings {
        values = Map.copyOf(values);
    }

    /** Of clients that reach brokers at these addresses, {@code host:port} with commas between, and need no login. */
    public static ClientSettings at(String bootstrapServers) {
        return NONE.with(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers);
    }

    /** These, and one more or another value of one. */
    public ClientSettings with(String name, Object value) {
        return with(Map.of(name, value));
    }

    /** These and those, which override these. */
    public ClientSettings with(ClientSettings more) {
        return with(more.values);
    }

    /** The same. */
    public ClientSettings with(Map<String, ?> more) {
        Map<String, Object> all = new HashMap<>(values);
        all.putAll(more);
        return new ClientSettings(all);
    }

    /** These, with the value if there is none of that name. */
    public ClientSettings withDefault(String name, Object value) {
        return values.containsKey(name) ? this : with(name, value);
    }

    /** Those of a client that brokers and metrics call by this name. */
    public ClientSettings as(String clientId) {
        return with(CommonClientConfigs.CLIENT_ID_CONFIG, clientId);
    }

    /**
     * Those of a producer for whose records somebody waits. A record that comes alone leaves at once. Those that come
     * while a request is under way leave together when it has been answered, for a request costs a broker about the
     * same with one record as with a hundred: so there are the fewer requests per record the more there is to do.
     *
     * @param clientId how brokers and metrics call it
     */
    public ClientSettings prompt(String clientId) {
        return as(clientId)
                .with(ProducerConfig.ACKS_CONFIG, "all")
                .with(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true)
                .with(ProducerConfig.LINGER_MS_CONFIG, 0)
                .with(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, 1)
                .redactingDeadLetters("");
    }

    /**
     * Those of a producer that takes out of dead letters what operators do not want to be told of, see
     * {@link DeadLetterRedaction}; the same ones if nothing is to be taken out.
     *
     * @param prefix of settings of producers, such as Kafka Streams' {@code producer.}; mostly none
     */
    public ClientSettings redactingDeadLetters(String prefix) {
        return Redaction.of(values).isEmpty()
                ? this
                : with(prefix + ProducerConfig.INTERCEPTOR_CLASSES_CONFIG, DeadLetterRedaction.class.getName());
    }

    /** The names alone, since values may be passwords. */
    @Override
    public String toString() {
        return "ClientSettings" + new TreeSet<>(values.keySet());
    }
}

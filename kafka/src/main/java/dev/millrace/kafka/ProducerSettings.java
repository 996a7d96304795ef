package dev.millrace.kafka;

import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerConfig;

/** How producers of an installation send. */
public final class ProducerSettings {

    private ProducerSettings() {}

    /**
     * Of a producer for whose records somebody waits. A record that comes alone leaves at once. Those that come while a
     * request is under way leave together when it has been answered, for a request costs a broker about the same with
     * one record as with a hundred: so there are the fewer requests per record the more there is to do.
     *
     * @param kafka how to reach the brokers; stays as it is
     * @param clientId how brokers and metrics call it
     * @return further settings may be put into it
     */
    public static Map<String, Object> prompt(Map<String, ?> kafka, String clientId) {
        Map<String, Object> settings = new HashMap<>(kafka);
        settings.put(ProducerConfig.CLIENT_ID_CONFIG, clientId);
        settings.put(ProducerConfig.ACKS_CONFIG, "all");
        settings.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
        settings.put(ProducerConfig.LINGER_MS_CONFIG, 0);
        settings.put(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, 1);
        DeadLetterRedaction.intoProducer(settings, "");
        return settings;
    }
}

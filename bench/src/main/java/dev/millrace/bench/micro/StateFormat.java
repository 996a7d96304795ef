package dev.millrace.bench.micro;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.dataformat.smile.SmileFactory;
import dev.millrace.agent.topology.StoreSerdes;
import dev.millrace.engine.JsonSerdes;
import java.util.function.Supplier;
import org.apache.kafka.common.serialization.Serde;

/** How stores could keep their values. */
public enum StateFormat {
    /** As they do. */
    JSON(JsonFactory::new),
    /** The same structure in binary: field names stand once, lengths go before texts, nothing is escaped. */
    SMILE(SmileFactory::new);

    @SuppressWarnings("ImmutableEnumChecker") // a constructor
    private final Supplier<JsonFactory> factory;

    StateFormat(Supplier<JsonFactory> factory) {
        this.factory = factory;
    }

    /** The mapper of the stores on this format. */
    <T> Serde<T> serde(Class<T> type) {
        return JsonSerdes.of(StoreSerdes.mapper(factory.get()), type);
    }
}

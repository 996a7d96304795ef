package dev.millrace.agent.kafka;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.llm.ChatMessage;
import dev.millrace.llm.DispatcherLimits;
import dev.millrace.llm.LanguageModel;
import dev.millrace.llm.ModelCall;
import dev.millrace.llm.ModelDispatcher;
import dev.millrace.llm.ModelRequest;
import dev.millrace.llm.config.LanguageModels;
import dev.millrace.llm.config.LlmConfig;
import dev.millrace.llm.rates.RateLimit;
import dev.millrace.testing.Configured;
import dev.millrace.testing.ServiceProcess;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** An instance of agent-service as far as model calls go: it has a hundred to make with the limited key. */
final class RatedInstance implements AutoCloseable {

    static final int REQUESTS = 20;
    static final Duration WINDOW = Duration.ofSeconds(2);
    /** Half of it is for the way to the stub, on a machine that may be busy. */
    static final Duration MARGIN = Duration.ofSeconds(1);

    private static final int CALLS = 100;

    final AtomicInteger ended = new AtomicInteger();
    final SharedRates rates;
    private final ModelDispatcher dispatcher;

    /** Begins at once; {@code name} is what its requests say. */
    RatedInstance(String bootstrapServers, String topic, URI model, String name) {
        rates = new SharedRates(ClientSettings.at(bootstrapServers), topic, Map.of("stub", limit(null)));
        rates.start();
        dispatcher = new ModelDispatcher(model(model), DispatcherLimits.DEFAULTS, rates);
        for (int i = 0; i < CALLS; i++) {
            String callId = name + i;
            dispatcher.submit(new ModelCall(
                    callId,
                    200,
                    i,
                    () -> new ModelRequest(callId, null, List.of(new ChatMessage.UserMessage(name)), List.of()),
                    outcome -> ended.incrementAndGet()));
        }
    }

    /** The same as a process of its own, to be killed. */
    static ServiceProcess process(Path folder, String bootstrapServers, String topic, URI model, String name) {
        return ServiceProcess.mainClass(RatedInstance.class, bootstrapServers, topic, model.toString(), name)
                .start(folder);
    }

    /** Runs until the one who started it closes its input, or kills it. */
    public static void main(String... args) throws IOException {
        try (RatedInstance instance = new RatedInstance(args[0], args[1], URI.create(args[2]), args[3])) {
            int end = System.in.read();
            System.exit(end < 0 && instance.ended.get() == CALLS ? 0 : 1);
        }
    }

    static RateLimit limit(@Nullable Long tokens) {
        return new RateLimit("stub", REQUESTS, tokens, WINDOW, MARGIN);
    }

    static LanguageModel model(URI model) {
        String stub = "millrace.llm.models.stub.";
        return LanguageModels.fromEnvironment(
                Configured.of(
                        LlmConfig.class,
                        Map.of(
                                stub + "provider",
                                "openai",
                                stub + "model",
                                "m",
                                stub + "base-url",
                                model.toString(),
                                stub + "key",
                                "stub",
                                "millrace.llm.keys.stub.max-requests",
                                String.valueOf(REQUESTS))),
                Map.of());
    }

    @Override
    public void close() {
        dispatcher.close();
        rates.close();
    }
}

package dev.millrace.gateway.config;

import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventSender;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.watch.FileChange;
import dev.millrace.gateway.watch.FolderWatch;
import dev.millrace.schemas.CustomEventType;
import dev.millrace.schemas.Event;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import io.quarkus.runtime.configuration.ConfigurationException;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Watches the folders that an operator has named; what makes no sense ends the start. */
@Singleton
public class WatchWiring {

    private static final Logger LOGGER = LoggerFactory.getLogger(WatchWiring.class);
    private static final CustomEventType CHANGED = new CustomEventType("file.changed");

    private final GatewayConfig config;
    private final EventSender sender;
    private final List<FolderWatch> watches = new ArrayList<>();

    @Inject
    WatchWiring(GatewayConfig config, EventSender sender) {
        this.config = config;
        this.sender = sender;
    }

    void start(@Observes StartupEvent event) {
        config.watch().forEach((name, watch) -> {
            try {
                example(name, watch);
                FolderWatch.Settings settings = new FolderWatch.Settings(
                        name, watch.folder(), watch.debounce(), watch.ignore(), watch.maxFiles());
                watches.add(new FolderWatch(settings, change -> tell(name, watch, change)));
            } catch (IllegalArgumentException | IOException e) {
                throw new ConfigurationException("millrace.gateway.watch." + name + "." + e.getMessage(), e);
            }
        });
    }

    void stop(@Observes ShutdownEvent event) {
        watches.forEach(FolderWatch::close);
    }

    /** Fails if no event could be in this session or namespace. */
    private static void example(String name, GatewayConfig.Watch watch) {
        Event unused = event(name, watch, new FileChange("id", "x", FileChange.Kind.CREATED, 0));
    }

    /** False if the brokers are away, so that it is to be told again. */
    private boolean tell(String name, GatewayConfig.Watch watch, FileChange change) {
        try {
            sender.send(List.of(event(name, watch, change)));
            return true;
        } catch (BrokerUnavailableException e) {
            LOGGER.atWarn().addKeyValue("watch", name).addKeyValue("cause", e).log("A change waits to be told");
            return false;
        } catch (EventTooLargeException e) {
            throw new IllegalStateException("a path that fits no event", e);
        }
    }

    private static Event event(String name, GatewayConfig.Watch watch, FileChange change) {
        return Event.root(change.id(), CHANGED, Instant.now())
                .source("watch/" + name)
                .namespace(watch.namespace())
                .sessionId(watch.session())
                .payload(Map.of(
                        "path",
                        change.path(),
                        "change",
                        change.kind().name().toLowerCase(Locale.ROOT),
                        "size",
                        change.size()))
                .build();
    }
}

package dev.millrace.broker;

import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.message.BrokerHeartbeatRequestData;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.controller.Controller;
import org.apache.kafka.controller.ControllerRequestContext;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.loader.LoaderManifest;
import org.apache.kafka.image.loader.MetadataLoader;
import org.apache.kafka.image.publisher.MetadataPublisher;
import org.apache.kafka.metadata.BrokerRegistration;
import org.jspecify.annotations.Nullable;

/**
 * The broker that was killed on this folder, as the metadata log still knows it: alive, and leader of everything.
 * {@link #fence} has the controller note that it is gone, as its own order of stopping would have done, before the next
 * one reads that log.
 *
 * <p>The next one would take those leaderships for its own, begin to load its groups, lose them as soon as it is
 * registered, and load them again. Kafka 4.2.1 takes the end of the first load for the end of the second: a coordinator
 * that has read a part of its groups only, or none, answers, and stays like that
 * ({@code docs/adr/0009-embedded-broker.md}).
 */
final class FormerIncarnation implements MetadataPublisher {

    private static final Duration PAUSE = Duration.ofMillis(20);

    private final int broker;
    private final CompletableFuture<MetadataImage> known = new CompletableFuture<>();
    private final CompletableFuture<Void> gone = new CompletableFuture<>();

    private FormerIncarnation(int broker) {
        this.broker = broker;
    }

    /**
     * Returns when the metadata knows no live broker of this id.
     *
     * @param metadata of the controller, which has started
     * @throws TimeoutException if that takes longer than the limit
     * @throws ExecutionException if the controller refuses
     */
    static void fence(int broker, MetadataLoader metadata, Controller controller, Duration limit)
            throws InterruptedException, ExecutionException, TimeoutException {
        FormerIncarnation former = new FormerIncarnation(broker);
        metadata.installPublishers(List.of(former)).get(limit.toMillis(), TimeUnit.MILLISECONDS);
        try {
            BrokerRegistration registration = alive(former.known.get(limit.toMillis(), TimeUnit.MILLISECONDS), broker);
            if (registration != null) {
                ask(controller, registration, limit);
                former.gone.get(limit.toMillis(), TimeUnit.MILLISECONDS);
            }
        } finally {
            metadata.removeAndClosePublisher(former).get(limit.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    private static void ask(Controller controller, BrokerRegistration registration, Duration limit)
            throws InterruptedException, ExecutionException, TimeoutException {
        long deadline = System.nanoTime() + limit.toNanos();
        while (true) {
            try {
                controller
                        .processBrokerHeartbeat(
                                new ControllerRequestContext(
                                        new RequestHeaderData(), KafkaPrincipal.ANONYMOUS, OptionalLong.of(deadline)),
                                new BrokerHeartbeatRequestData()
                                        .setBrokerId(registration.id())
                                        .setBrokerEpoch(registration.epoch())
                                        .setWantFence(true))
                        .get(limit.toMillis(), TimeUnit.MILLISECONDS);
                return;
            } catch (ApiException e) { // it is not in charge yet
                if (System.nanoTime() - deadline > 0) {
                    throw new ExecutionException(e);
                }
            } catch (ExecutionException e) {
                if (!(e.getCause() instanceof ApiException) || System.nanoTime() - deadline > 0) {
                    throw e;
                }
            }
            Thread.sleep(PAUSE);
        }
    }

    private static @Nullable BrokerRegistration alive(MetadataImage image, int broker) {
        BrokerRegistration registration = image.cluster().broker(broker);
        return registration == null || registration.fenced() ? null : registration;
    }

    @Override
    public String name() {
        return "FormerIncarnation";
    }

    @Override
    public void onMetadataUpdate(MetadataDelta delta, MetadataImage image, LoaderManifest manifest) {
        known.complete(image);
        if (alive(image, broker) == null) {
            gone.complete(null);
        }
    }

    @Override
    public void close() {
        // nothing to let go
    }
}

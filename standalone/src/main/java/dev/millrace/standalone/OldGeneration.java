package dev.millrace.standalone;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryNotificationInfo;
import java.lang.management.MemoryPoolMXBean;
import javax.management.NotificationEmitter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has garbage collected in the old generation when it has doubled. The serial collector, which {@code ./millrace up}
 * starts quickly with, lets it grow up to the largest heap first, by default a quarter of the machine, whatever little
 * of it is in use. Other collectors look after themselves.
 */
final class OldGeneration {

    /** So much in it is no reason to look for garbage. */
    private static final long LITTLE_BYTES = 256L << 20;

    private static final Logger LOGGER = LoggerFactory.getLogger(OldGeneration.class);
    private static final String OF_SERIAL_COLLECTOR = "Tenured Gen";

    private OldGeneration() {}

    /** Begins to, for as long as the process lives. */
    static void keepSmall() {
        ManagementFactory.getMemoryPoolMXBeans().stream()
                .filter(pool -> pool.getName().equals(OF_SERIAL_COLLECTOR))
                .forEach(OldGeneration::watch);
    }

    private static void watch(MemoryPoolMXBean pool) {
        NotificationEmitter memory = (NotificationEmitter) ManagementFactory.getMemoryMXBean();
        memory.addNotificationListener(
                (notification, none) -> collect(pool),
                notification -> notification.getType().equals(MemoryNotificationInfo.MEMORY_THRESHOLD_EXCEEDED),
                null);
        expectUpTo(pool, LITTLE_BYTES);
    }

    private static void collect(MemoryPoolMXBean pool) {
        System.gc();
        long used = pool.getUsage().getUsed();
        LOGGER.atDebug().addKeyValue("usedBytes", used).log("Garbage was collected in the old generation");
        expectUpTo(pool, Math.max(LITTLE_BYTES, 2 * used));
    }

    private static void expectUpTo(MemoryPoolMXBean pool, long bytes) {
        long most = pool.getUsage().getMax();
        pool.setUsageThreshold(most < 0 ? bytes : Math.min(bytes, most));
    }
}

package dev.millrace.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutionException;

/** Millrace as {@code ./millrace up} runs it. */
record MillracePeer(Path folder, Fleet fleet) implements Peer {

    static MillracePeer start(Fleet.Durability durability)
            throws IOException, InterruptedException, ExecutionException {
        Path folder = Files.createTempDirectory("millrace-bench-");
        Path script = Files.writeString(folder.resolve("script.yaml"), TaskWorkload.SCRIPT);
        return new MillracePeer(folder, Fleet.start(Fleet.Mode.ONE, durability, folder, script, List.of()));
    }

    @Override
    public Driver driver(TaskWorkload.Load load) {
        return load.driver(fleet, load.http());
    }

    @Override
    public Footprint footprint() {
        return fleet.footprint();
    }

    @Override
    public void close() {
        fleet.close();
        Folders.delete(folder);
    }
}

package dev.millrace.bench;

import dev.millrace.schemas.Json;
import dev.millrace.testing.FreePort;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Restate's server, and a service with its Java SDK; tasks come in through its HTTP ingress. */
record RestatePeer(PeerProcesses processes, int ingress) implements Peer {

    private record Question(String text, int modelMs) {}

    private record Deployment(String uri, boolean force) {}

    static RestatePeer start(PeerSources sources) throws IOException, InterruptedException {
        PeerProcesses processes = new PeerProcesses();
        try {
            int ingress = FreePort.find();
            int admin = FreePort.find();
            int node = FreePort.find();
            int agent = FreePort.find();
            Path config = Files.writeString(processes.folder().resolve("restate.toml"), """
                    disable-telemetry = true
                    [admin]
                    bind-address = "127.0.0.1:%d"
                    [ingress]
                    bind-address = "127.0.0.1:%d"
                    """.formatted(admin, ingress));
            processes.start(
                    "server",
                    List.of(
                            sources.restateServer().toString(),
                            "--config-file=" + config,
                            "--base-dir=data",
                            "--no-logo",
                            "--listen-mode=tcp",
                            "--bind-ip=127.0.0.1",
                            "--bind-port=" + node,
                            "--cluster-name=bench",
                            "--node-name=one"),
                    Map.of("RUST_LOG", "warn", "DO_NOT_TRACK", "1"));
            processes.start(
                    "agent",
                    sources.java(Contender.RESTATE, "1g", "RestateAgent", Integer.toString(agent)),
                    Map.of("RESTATE_LOGGING", "ERROR"));
            processes.awaitAnswer(HttpRequest.newBuilder(PeerProcesses.local(admin, "/health"))
                    .build());
            processes.awaitAnswer(post(
                    admin,
                    "/deployments",
                    new Deployment(PeerProcesses.local(agent, "").toString(), true)));
            return new RestatePeer(processes, ingress);
        } catch (IOException | InterruptedException | RuntimeException e) {
            processes.close();
            throw e;
        }
    }

    private static HttpRequest post(int port, String path, Record body) {
        return HttpRequest.newBuilder(PeerProcesses.local(port, path))
                .timeout(Duration.ofSeconds(90))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofByteArray(Json.write(body)))
                .build();
    }

    @Override
    public Driver driver(TaskWorkload.Load load) {
        return new HttpDriver(post(ingress, "/agent/run", new Question("hello", load.modelMs())), "answer: ");
    }

    @Override
    public Footprint footprint() {
        return Footprint.of(processes.pids());
    }

    @Override
    public void close() {
        processes.close();
    }
}

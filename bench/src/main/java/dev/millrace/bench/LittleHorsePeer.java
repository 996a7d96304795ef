package dev.millrace.bench;

import dev.millrace.testing.FreePort;
import dev.millrace.testing.ServiceProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;

/**
 * LittleHorse's server on a broker like Millrace's, and one process that is worker and client, because a client of it
 * speaks gRPC; so the client's share is in its costs.
 */
final class LittleHorsePeer implements Peer {

    private final PeerProcesses processes;
    private final ServiceProcess broker;
    private final BufferedReader answers;
    private final Writer commands;

    private LittleHorsePeer(PeerProcesses processes, ServiceProcess broker, Process agent) throws IOException {
        this.processes = processes;
        this.broker = broker;
        this.answers = agent.inputReader(StandardCharsets.UTF_8);
        this.commands = agent.outputWriter(StandardCharsets.UTF_8);
        answer("The worker runs");
    }

    static LittleHorsePeer start(PeerSources sources) throws IOException {
        PeerProcesses processes = new PeerProcesses();
        int kafka = FreePort.find();
        ServiceProcess broker = Floor.broker(kafka, processes.folder());
        try {
            int port = FreePort.find();
            int inside = FreePort.find();
            Path config = Files.writeString(processes.folder().resolve("littlehorse.config"), """
                    LHS_KAFKA_BOOTSTRAP_SERVERS=127.0.0.1:%1$d
                    LHS_CLUSTER_ID=bench
                    LHS_INSTANCE_ID=1
                    LHS_REPLICATION_FACTOR=1
                    LHS_CLUSTER_PARTITIONS=4
                    LHS_SHOULD_CREATE_TOPICS=true
                    LHS_STATE_DIR=state
                    LHS_STREAMS_NUM_WARMUP_REPLICAS=1
                    LHS_STREAMS_NUM_STANDBY_REPLICAS=0
                    LHS_CORE_STREAM_THREADS=2
                    LHS_TIMER_STREAM_THREADS=1
                    LHS_HEALTH_SERVICE_PORT=%4$d
                    LHS_INTERNAL_BIND_PORT=%3$d
                    LHS_INTERNAL_ADVERTISED_PORT=%3$d
                    LHS_INTERNAL_ADVERTISED_HOST=127.0.0.1
                    LHS_LISTENERS=PLAIN:%2$d
                    LHS_ADVERTISED_LISTENERS=PLAIN://127.0.0.1:%2$d
                    LHS_LISTENERS_PROTOCOL_MAP=PLAIN:PLAIN
                    """.formatted(
                            kafka, port, inside, FreePort.find()));
            processes.start(
                    "server",
                    sources.java(Contender.LITTLEHORSE, "1500m", "io.littlehorse.App", config.toString()),
                    Map.of());
            Process agent = processes.startPiped(
                    "worker-and-client",
                    sources.java(Contender.LITTLEHORSE, "700m", "LittleHorseAgent", Integer.toString(port)));
            return new LittleHorsePeer(processes, broker, agent);
        } catch (IOException | RuntimeException e) {
            broker.close();
            processes.close();
            throw e;
        }
    }

    /** Reads on until a line that begins with this, and returns what is behind it. */
    private String answer(String begin) throws IOException {
        for (String line = answers.readLine(); line != null; line = answers.readLine()) {
            if (line.startsWith(begin)) {
                return line.substring(begin.length()).strip();
            }
        }
        throw new IllegalStateException("expected LittleHorse's worker to run; see its log in " + processes.folder());
    }

    private void command(String line) {
        try {
            commands.write(line + '\n');
            commands.flush();
        } catch (IOException e) {
            throw new UncheckedIOException("LittleHorse's worker has ended", e);
        }
    }

    @Override
    public Driver driver(TaskWorkload.Load load) {
        return new Driver() {
            @Override
            public String ingress() {
                return "grpc";
            }

            @Override
            public void keep(int inFlight) {
                command("keep " + inFlight + ' ' + load.modelMs());
            }

            @Override
            public void startNoting() {
                command("note");
            }

            @Override
            public Latencies noted() {
                command("noted");
                try {
                    return Latencies.of(Stream.of(answer("noted").split(" "))
                            .filter(millis -> !millis.isEmpty())
                            .map(Double::valueOf)
                            .toList());
                } catch (IOException e) {
                    throw new UncheckedIOException("LittleHorse's worker has ended", e);
                }
            }

            @Override
            public void close() {
                keep(0);
            }
        };
    }

    @Override
    public Footprint footprint() {
        Map<String, Long> pids = new LinkedHashMap<>(processes.pids());
        pids.put("broker", broker.pid());
        return Footprint.of(pids);
    }

    @Override
    public void close() {
        broker.close();
        processes.close();
    }
}

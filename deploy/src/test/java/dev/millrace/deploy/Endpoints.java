package dev.millrace.deploy;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One address for all pods of a service that are ready, as a Service of Kubernetes is: connections go to them in turn,
 * and stay where they are. With none that is ready they are closed.
 */
final class Endpoints implements AutoCloseable {

    private static final int BACKLOG = 200;

    private final ServerSocket door;
    private final List<Integer> ready = new CopyOnWriteArrayList<>();
    private final AtomicInteger turn = new AtomicInteger();

    private Endpoints(ServerSocket door) {
        this.door = door;
    }

    /** Opens one on a free port. */
    static Endpoints open() {
        try {
            Endpoints endpoints = new Endpoints(new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress()));
            Thread.ofVirtual().start(endpoints::accept);
            return endpoints;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    int port() {
        return door.getLocalPort();
    }

    /** New connections go to this port too. */
    void add(int port) {
        if (!ready.contains(port)) {
            ready.add(port);
        }
    }

    /** New connections go to this port no more. */
    void remove(int port) {
        ready.removeIf(one -> one == port);
    }

    private void accept() {
        while (!door.isClosed()) {
            try {
                Socket client = door.accept();
                Thread.ofVirtual().start(() -> join(client));
            } catch (IOException e) {
                // closed
            }
        }
    }

    private void join(Socket client) {
        List<Integer> ports = List.copyOf(ready);
        try (client;
                Socket pod = ports.isEmpty() ? null : connect(ports)) {
            if (pod == null) {
                return;
            }
            Thread back = Thread.ofVirtual().start(() -> copy(pod, client));
            copy(client, pod);
            back.join();
        } catch (IOException e) {
            // as if the pod had closed the connection
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Socket connect(List<Integer> ports) throws IOException {
        int port = ports.get(Math.floorMod(turn.getAndIncrement(), ports.size()));
        return new Socket(InetAddress.getLoopbackAddress(), port);
    }

    /** Until one of them closes; then both are. */
    private static void copy(Socket from, Socket to) {
        try (from;
                to;
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream()) {
            in.transferTo(out);
        } catch (IOException e) {
            // the other direction has ended
        }
    }

    @Override
    public void close() throws IOException {
        door.close();
    }
}

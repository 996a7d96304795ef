package dev.millrace.bench.crash;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The network between one service and the broker: a relay of TCP connections that can be cut (connections are reset,
 * new ones refused) or held (nothing comes through, and nobody is told), as a cable that is pulled and a switch that
 * hangs.
 */
final class Link implements AutoCloseable {

    private static final int BUFFER_BYTES = 64 * 1024;
    private static final int BACKLOG = 50;

    private final InetSocketAddress here;
    private final InetSocketAddress there;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final Object gate = new Object();
    private boolean held;
    private @Nullable ServerSocket listener;

    /** Relays what comes to this address; listens at once. */
    Link(InetAddress address, int port, InetSocketAddress there) {
        this.here = new InetSocketAddress(address, port);
        this.there = there;
        open();
    }

    /** Resets all connections and refuses new ones. */
    synchronized void cut() {
        ServerSocket open = listener;
        listener = null;
        close(open);
        sockets.forEach(Link::reset);
        sockets.clear();
    }

    /** Lets nothing through. What is sent meanwhile arrives when it is healed, as after a loss of packets. */
    void hold() {
        synchronized (gate) {
            held = true;
        }
    }

    /** Works again. */
    void heal() {
        synchronized (gate) {
            held = false;
            gate.notifyAll();
        }
        open();
    }

    @Override
    public void close() {
        heal();
        cut();
    }

    private synchronized void open() {
        if (listener != null) {
            return;
        }
        try {
            ServerSocket opened = new ServerSocket();
            opened.setReuseAddress(true);
            opened.bind(here, BACKLOG);
            listener = opened;
            Thread.ofVirtual().name("link").start(() -> accept(opened));
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot listen on " + here, e);
        }
    }

    private void accept(ServerSocket opened) {
        while (!opened.isClosed()) {
            try {
                Socket near = opened.accept();
                Thread.ofVirtual().name("link").start(() -> relay(opened, near));
            } catch (IOException e) {
                return; // cut
            }
        }
    }

    private void relay(ServerSocket opened, Socket near) {
        sockets.add(near);
        Socket far = new Socket();
        sockets.add(far);
        try {
            awaitOpen();
            far.connect(there);
            near.setTcpNoDelay(true);
            far.setTcpNoDelay(true);
            Thread back = Thread.ofVirtual().name("link").start(() -> pump(far, near));
            pump(near, far);
            back.join();
        } catch (IOException e) {
            reset(near);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            close(near);
            close(far);
            sockets.remove(near);
            sockets.remove(far);
        }
        if (opened.isClosed()) {
            reset(near);
        }
    }

    private void pump(Socket from, Socket to) {
        byte[] buffer = new byte[BUFFER_BYTES];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            int count = in.read(buffer);
            while (count >= 0) {
                awaitOpen();
                out.write(buffer, 0, count);
                count = in.read(buffer);
            }
        } catch (IOException e) {
            // the other direction ends, too
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            close(from);
            close(to);
        }
    }

    private void awaitOpen() throws InterruptedException {
        synchronized (gate) {
            while (held) {
                gate.wait();
            }
        }
    }

    private static void reset(Socket socket) {
        try {
            socket.setSoLinger(true, 0);
        } catch (IOException e) {
            // closed already
        }
        close(socket);
    }

    private static void close(@Nullable AutoCloseable one) {
        if (one != null) {
            try {
                one.close();
            } catch (Exception e) {
                // it is closed as far as it can be
            }
        }
    }
}

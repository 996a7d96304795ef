package dev.millrace.broker;

import dev.millrace.broker.BrokerStartException.Reason;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import org.apache.kafka.server.ServerSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * The two listening sockets, bound before anything else happens: so a port in use is found before the data folder is
 * touched, and a free port that was found cannot be lost to somebody else. Kafka takes them over; closing this closes
 * only those that it has not taken.
 */
final class Sockets implements ServerSocketFactory, AutoCloseable {

    private static final int BACKLOG = 50;

    private final ServerSocketChannel broker;
    private final ServerSocketChannel controller;
    private boolean brokerTaken;
    private boolean controllerTaken;

    private Sockets(ServerSocketChannel broker, ServerSocketChannel controller) {
        this.broker = broker;
        this.controller = controller;
    }

    /** Binds the broker's socket to {@code port} of the loopback address (0 = any), the controller's to any. */
    static Sockets bind(int port) throws BrokerStartException {
        @Nullable ServerSocketChannel broker = null;
        try {
            broker = listen(port);
            return new Sockets(broker, listen(0));
        } catch (BindException e) {
            close(broker);
            throw new BrokerStartException(
                    Reason.PORT_IN_USE,
                    "Kafka port " + port + " is in use (" + e.getMessage()
                            + "). Stop what listens there, or choose another port.",
                    e);
        } catch (IOException | IllegalArgumentException e) {
            close(broker);
            throw new BrokerStartException(
                    Reason.OTHER, "Cannot listen on port " + port + " of the loopback address: " + e.getMessage(), e);
        }
    }

    int brokerPort() {
        return broker.socket().getLocalPort();
    }

    int controllerPort() {
        return controller.socket().getLocalPort();
    }

    InetSocketAddress controllerAddress() {
        return new InetSocketAddress(controller.socket().getInetAddress(), controllerPort());
    }

    /** Hands over the bound socket of a listener; Kafka closes it. */
    @Override
    public synchronized ServerSocketChannel openServerSocket(
            String listenerName, InetSocketAddress address, int backlog, int receiveBufferSize) throws IOException {
        if (listenerName.equals(BrokerSettings.BROKER_LISTENER)) {
            brokerTaken = true;
            return broker;
        }
        controllerTaken = true;
        return controller;
    }

    @Override
    public synchronized void close() {
        if (!brokerTaken) {
            close(broker);
        }
        if (!controllerTaken) {
            close(controller);
        }
    }

    private static ServerSocketChannel listen(int port) throws IOException {
        ServerSocketChannel channel = ServerSocketChannel.open();
        try {
            InetAddress loopback = InetAddress.getAllByName(BrokerSettings.LOOPBACK)[0];
            channel.bind(new InetSocketAddress(loopback, port), BACKLOG);
            channel.configureBlocking(false); // Kafka's acceptor uses a selector
            return channel;
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    private static void close(@Nullable ServerSocketChannel channel) {
        if (channel != null) {
            try {
                channel.close();
            } catch (IOException e) {
                // a socket that was never used has nothing to lose
            }
        }
    }
}

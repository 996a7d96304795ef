package dev.millrace.console;

import io.vertx.core.buffer.Buffer;

/** A file as it is sent. Its bytes are nobody else's, and stay as they are. */
final class ServedFile {

    private final String type;
    private final String etag;
    private final String policy;
    private final byte[] bytes;

    /**
     * A file.
     *
     * @param type its media type
     * @param etag its entity tag, quotes included; other bytes have another one
     * @param policy what a page of it may load and run, as in Content-Security-Policy
     */
    ServedFile(String type, String etag, String policy, byte[] bytes) {
        this.type = type;
        this.etag = etag;
        this.policy = policy;
        this.bytes = bytes;
    }

    String type() {
        return type;
    }

    String etag() {
        return etag;
    }

    String policy() {
        return policy;
    }

    Buffer body() {
        return Buffer.buffer(bytes);
    }
}

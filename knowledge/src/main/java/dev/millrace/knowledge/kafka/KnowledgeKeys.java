package dev.millrace.knowledge.kafka;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

/** Keys of records on the topic of knowledge. The namespace is percent-encoded, so that it has no slash. */
public final class KnowledgeKeys {

    /** What a key of a document begins with. */
    static final String DOCUMENT = "document/";
    /** What a key of a chunk begins with. */
    static final String CHUNK = "chunk/";

    /** What a key of an entity begins with. */
    static final String ENTITY = "entity/";
    /** What a key of what a text mentions begins with. */
    static final String MENTIONS = "mentions/";

    private KnowledgeKeys() {}

    /** Of a document. */
    public static String document(String namespace, String id) {
        return DOCUMENT + encoded(namespace) + '/' + id;
    }

    /** Of a chunk. */
    public static String chunk(String namespace, String documentId, String version, int number) {
        return CHUNK + encoded(namespace) + '/' + documentId + '/' + version + '/' + number;
    }

    /** Of an entity. */
    public static String entity(String namespace, String id) {
        return ENTITY + encoded(namespace) + '/' + id;
    }

    /** Of what a text mentions. */
    public static String mentions(String namespace, String id) {
        return MENTIONS + encoded(namespace) + '/' + id;
    }

    private static String encoded(String namespace) {
        return URLEncoder.encode(namespace, StandardCharsets.UTF_8).replace("+", "%20");
    }

    static String decoded(String namespace) {
        return URLDecoder.decode(namespace, StandardCharsets.UTF_8);
    }
}

package dev.millrace.knowledge.config;

import io.quarkus.runtime.configuration.MemorySize;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** What an operator may set for knowledge. Every value has a default that works. */
@ConfigMapping(prefix = "millrace.knowledge")
public interface KnowledgeConfig {

    /** The folder for the index; for this instance alone. If it is lost, it is built again from Kafka. */
    @WithDefault("data/knowledge")
    Path stateDir();

    /** The folder whose files may be ingested. Absent = none may. */
    Optional<Path> workspace();

    /** Whether each namespace has a folder of its own there; unless it is said, as it is for the tools. */
    @WithDefault("${millrace.tools.workspace-per-namespace:false}")
    boolean workspacePerNamespace();

    /** How many documents and calls of tools are worked on at a time, 1 or more. */
    @WithDefault("4")
    int maxConcurrent();

    /** The largest document, in bytes. */
    @WithDefault("20M")
    MemorySize maxDocumentSize();

    /** The most chunks of one document. */
    @WithDefault("20000")
    int maxChunks();

    /** How long work that runs may go on when the service stops; the rest goes back to its topic. */
    @WithDefault("5s")
    Duration shutdownGrace();

    /** A process with which this one ends, by its number. Absent = it ends when it is told. */
    OptionalLong withProcess();

    /** How documents are cut where they say nothing about it. */
    Chunks chunking();

    /** Where vectors come from. */
    Embedding embedding();

    /** How entities are found. */
    Entities entities();

    /** What is fetched from the network. */
    Http http();

    /** How documents are cut. */
    interface Chunks {

        /** By {@code headings} (and rows of tables), {@code paragraph}, {@code sentence} or {@code fixed}. */
        @WithDefault("headings")
        String strategy();

        /** The largest chunk, in tokens of about four characters, 16 to 4096. Absent = what suits the strategy. */
        OptionalInt size();

        /** How much of a chunk the next one begins with, in tokens. Absent = what suits the strategy. */
        OptionalInt overlap();
    }

    /** Where vectors come from. */
    interface Embedding {

        /** A model in this process ({@code local}), or a server that speaks as {@code openai} or {@code ollama} do. */
        @WithDefault("local")
        String provider();

        /** The server, such as {@code https://api.openai.com/v1} or {@code http://localhost:11434}. */
        Optional<URI> url();

        /** Its model. */
        Optional<String> model();

        /** What is shown to it. */
        Optional<String> apiKey();

        /** How long one of its answers may take. */
        @WithDefault("60s")
        Duration timeout();

        /** Threads that compute in this process, 1 or more. */
        @WithDefault("1")
        int threads();

        /**
         * From which similarity on a chunk may be an answer, -1 to 1. Absent = measured for the local model, and 0 for
         * others: models differ too much for one number.
         */
        OptionalDouble threshold();
    }

    /** How entities are found. */
    interface Entities {

        /** The model that finds them, as agents name one. Absent = the default one. */
        Optional<String> model();

        /**
         * From which similarity of names on a model is asked whether they mean the same, -1 to 1. Absent = measured for
         * the local model of vectors, and 0.7 for others.
         */
        OptionalDouble confirm();

        /**
         * From which similarity of names on they mean the same, not less than {@code confirm}. Absent = measured for
         * the local model of vectors, and 0.95 for others.
         */
        OptionalDouble merge();
    }

    /** What is fetched from the network. */
    interface Http {

        /** Hosts that may be asked although their addresses are private; {@code *} stands for any text. */
        Optional<List<String>> allowHosts();
    }
}

package dev.millrace.agent.core;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The sentences in the Javadoc of the core, so that the generated document says nothing that is written a second time. */
final class SourceText {

    private static final Path CORE = Path.of("src/main/java/dev/millrace/agent/core");

    private SourceText() {}

    /** The first sentence about a type or constant, without references to the specification, as Markdown. */
    static String sentenceAbout(String file, String name) {
        String words = javadocOf(file, name)
                .split("(?m)^@", 2)[0]
                .replaceAll("\\s+", " ")
                .strip();
        Matcher end = Pattern.compile("\\.(?= |$)").matcher(words);
        String sentence = end.find() ? words.substring(0, end.end()) : words;
        return markdown(sentence);
    }

    /** What the Javadoc of a type says about one of its components, as Markdown. */
    static String parameter(String file, String type, String component) {
        String block = (javadocOf(file, type) + "\n@").replaceAll("\\s+", " ");
        Matcher param = Pattern.compile("@param " + component + " (.*?) ?@").matcher(block);
        if (!param.find()) {
            throw new AssertionError(file + ": no @param " + component + " on " + type);
        }
        return markdown(param.group(1));
    }

    private static String javadocOf(String file, String name) {
        Matcher comment = Pattern.compile(
                        "/\\*\\*((?:(?!\\*/).)*)\\*/\\s*(?:(?:public |sealed )*(?:record|interface|class) )?" + name
                                + "\\b",
                        Pattern.DOTALL)
                .matcher(read(file));
        if (!comment.find()) {
            throw new AssertionError(file + ": no Javadoc on " + name);
        }
        return comment.group(1).replaceAll("(?m)^\\s*\\* ?", "").strip();
    }

    private static String markdown(String text) {
        return text.replaceAll("\\{@(?:code|link) (?:\\w+#)?([^}]+)}", "`$1`")
                .replaceAll(" ?\\([^()]*\\b(?:[FX]-\\d+|[A-Z]+_[A-Z_]+|DESIGN)\\b[^()]*\\)", "")
                .replace("|", "\\|");
    }

    private static String read(String file) {
        try {
            return Files.readString(CORE.resolve(file + ".java"));
        } catch (IOException e) {
            throw new UncheckedIOException("the sources of the core must be readable from the module's folder", e);
        }
    }
}

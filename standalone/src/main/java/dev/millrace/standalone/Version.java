package dev.millrace.standalone;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** Answers {@code --version}. */
final class Version implements IVersionProvider {

    @Override
    public String[] getVersion() {
        Properties build = build();
        return new String[] {
            "millrace " + build.getProperty("version", "?") + " (Kafka " + build.getProperty("kafka", "?") + ", Java "
                    + Runtime.version().feature() + ")"
        };
    }

    /** The version of Millrace alone. */
    static String ofMillrace() {
        return build().getProperty("version", "?");
    }

    private static Properties build() {
        Properties build = new Properties();
        try (InputStream file = Version.class.getResourceAsStream("/millrace-version.properties")) {
            if (file != null) {
                build.load(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return build;
    }
}

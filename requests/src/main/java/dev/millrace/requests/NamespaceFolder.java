package dev.millrace.requests;

import dev.millrace.schemas.Ids;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** The folder of a namespace below one for all. */
public final class NamespaceFolder {

    /** File systems take names of 255 bytes. */
    private static final int MAX_NAME = 200;

    private NamespaceFolder() {}

    /**
     * A folder for each namespace, no two of which have the same, also where capital letters do not count in names of
     * files: small letters, digits, {@code -} and {@code _} stand for themselves, any other byte is {@code %} and two
     * hexadecimal digits. What would be too long is {@code %-} and a hash.
     */
    public static Path of(Path all, String namespace) {
        StringBuilder name = new StringBuilder();
        for (byte each : namespace.getBytes(StandardCharsets.UTF_8)) {
            if ((each >= 'a' && each <= 'z') || (each >= '0' && each <= '9') || each == '-' || each == '_') {
                name.append((char) each);
            } else {
                name.append("%%%02X".formatted(each));
            }
        }
        boolean fits = !name.isEmpty() && name.length() <= MAX_NAME;
        return all.resolve(fits ? name.toString() : "%-" + Ids.hash(namespace));
    }
}

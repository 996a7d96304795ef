package dev.millrace.console;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.schemas.Json;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The files of the console, each read once when it is first asked for. The page names its modules by an import map,
 * which is put together from those that the jars of the modules bring along. For any thread.
 */
final class ConsoleFiles {

    private static final String FOLDER = "console/";
    private static final String PAGE = "index.html";
    private static final String IMPORT_MAP_PLACE = "<!-- import map -->";
    private static final String IMPORT_MAPS = "META-INF/importmap.json";
    /** Nothing that leads out of the folder, and no file whose type is not known. */
    private static final Pattern NAME = Pattern.compile("[a-z0-9-]+(?:/[a-z0-9-]+)*\\.(?:js|css|svg)");

    private static final Map<String, String> TYPES = Map.of(
            "html", "text/html; charset=utf-8",
            "js", "text/javascript; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "svg", "image/svg+xml");

    private final ClassLoader loader;
    private final Map<String, ServedFile> files = new ConcurrentHashMap<>();

    ConsoleFiles(ClassLoader loader) {
        this.loader = loader;
    }

    /** The page that all screens are. */
    ServedFile page() {
        return files.computeIfAbsent(PAGE, name -> {
            String map = importMap();
            String html = new String(
                            read(name)
                                    .orElseThrow(() -> new IllegalStateException(
                                            "the jar of the console has no " + FOLDER + PAGE)),
                            StandardCharsets.UTF_8)
                    .replace(IMPORT_MAP_PLACE, "<script type=\"importmap\">" + map + "</script>");
            return served(name, html.getBytes(StandardCharsets.UTF_8), policy(sha256(map)));
        });
    }

    /** A module, a stylesheet or a picture of it; empty = there is none of that name. */
    Optional<ServedFile> file(String name) {
        if (!NAME.matcher(name).matches()) {
            return Optional.empty();
        }
        ServedFile known = files.get(name);
        if (known != null) {
            return Optional.of(known);
        }
        // what is not there is not remembered: there is no end of such names
        Optional<ServedFile> read = read(name).map(bytes -> served(name, bytes, policy(null)));
        read.ifPresent(file -> files.put(name, file));
        return read;
    }

    private Optional<byte[]> read(String name) {
        try (InputStream in = loader.getResourceAsStream(FOLDER + name)) {
            return in == null ? Optional.empty() : Optional.of(in.readAllBytes());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static ServedFile served(String name, byte[] bytes, String policy) {
        return new ServedFile(
                TYPES.getOrDefault(name.substring(name.lastIndexOf('.') + 1), "application/octet-stream"),
                '"' + sha256(bytes) + '"',
                policy,
                bytes);
    }

    /**
     * What the browser lets a page do, whatever text it is made to show: run modules of this server, ask this server,
     * and nothing else. Markup is made by one policy alone, that of the templates.
     */
    private static String policy(@Nullable String importMapHash) {
        return "default-src 'none'; script-src 'self'"
                + (importMapHash == null ? "" : " 'sha256-" + importMapHash + "'")
                + "; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none';"
                + " frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types lit-html";
    }

    /** All import maps of the class path as one. */
    private String importMap() {
        ObjectNode all = Json.MAPPER.createObjectNode();
        ObjectNode imports = all.putObject("imports");
        try {
            for (URL url : Collections.list(loader.getResources(IMPORT_MAPS))) {
                try (InputStream in = url.openStream()) {
                    JsonNode map = Json.MAPPER.readTree(in);
                    map.path("imports").properties().forEach(entry -> imports.set(entry.getKey(), entry.getValue()));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return Json.writeText(all);
    }

    private static String sha256(String text) {
        return sha256(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String sha256(byte[] bytes) {
        try {
            return Base64.getEncoder()
                    .encodeToString(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new LinkageError("every JDK has SHA-256", e);
        }
    }
}

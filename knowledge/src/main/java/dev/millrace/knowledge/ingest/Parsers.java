package dev.millrace.knowledge.ingest;

import dev.millrace.knowledge.core.MarkdownParser;
import dev.millrace.knowledge.core.ParsedDocument;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.IllegalCharsetNameException;
import java.nio.charset.StandardCharsets;
import java.nio.charset.UnsupportedCharsetException;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jsoup.Jsoup;
import org.jsoup.nodes.Document;
import org.jspecify.annotations.Nullable;

/** Finds out what a document is, by what its server says, its name and how it begins, and reads it. */
final class Parsers {

    private static final Pattern CHARSET = Pattern.compile("charset\\s*=\\s*\"?([^\\s;\"]+)", Pattern.CASE_INSENSITIVE);
    private static final int LOOK_AT = 8_000;

    private Parsers() {}

    /**
     * What reading a document may cost.
     *
     * @param time then nobody waits any more
     * @param chars of text
     */
    record Bounds(Duration time, int chars) {
        static final Bounds DEFAULT = new Bounds(Duration.ofSeconds(60), 10_000_000);
    }

    /** A document as its text; one without any is refused. */
    static ParsedDocument parse(Fetcher.Fetched fetched) throws IngestException, InterruptedException {
        return parse(fetched, Bounds.DEFAULT);
    }

    static ParsedDocument parse(Fetcher.Fetched fetched, Bounds bounds) throws IngestException, InterruptedException {
        byte[] bytes = fetched.bytes();
        if (PdfParser.isPdf(bytes)) {
            return withText(bounded(bounds, budget -> PdfParser.parse(bytes, budget)));
        }
        if (OfficeParser.isPackage(bytes)) {
            return withText(bounded(bounds, budget -> OfficeParser.parse(bytes, budget)));
        }
        String type = fetched.contentType() == null ? "" : fetched.contentType().toLowerCase(Locale.ROOT);
        String name = fetched.name().toLowerCase(Locale.ROOT);
        if (isHtml(type, name, bytes)) {
            return bounded(bounds, budget -> HtmlParser.parse(page(fetched), budget));
        }
        for (int i = 0; i < Math.min(bytes.length, LOOK_AT); i++) {
            if (bytes[i] == 0) {
                throw new IngestException(
                        "unsupported_format",
                        "expected HTML, Markdown, text, PDF, .docx, .xlsx or .pptx, found binary content"
                                + (type.isEmpty() ? "" : " of the type " + type));
            }
        }
        return bounded(bounds, budget -> MarkdownParser.parse(budget.take(text(fetched))));
    }

    private static Document page(Fetcher.Fetched fetched) throws IOException {
        return Jsoup.parse(new ByteArrayInputStream(fetched.bytes()), charset(fetched.contentType()), "");
    }

    /** Reads a document. */
    @FunctionalInterface
    interface Reader {
        ParsedDocument read(TextBudget budget) throws IngestException, IOException;
    }

    /**
     * Reads in a thread of its own, since a file that was made for it can keep its reader busy for ever, and breaks it
     * in whatever way it likes.
     */
    static ParsedDocument bounded(Bounds bounds, Reader reader) throws IngestException, InterruptedException {
        FutureTask<ParsedDocument> task = new FutureTask<>(() -> reader.read(new TextBudget(bounds.chars())));
        Thread thread = Thread.ofPlatform().daemon().name("document-reader").start(task);
        try {
            return task.get(bounds.time().toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw new IngestException(
                    "parse_timeout",
                    "expected a document that can be read within "
                            + bounds.time().toSeconds() + " s, found one that takes longer");
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IngestException refused) {
                throw refused;
            }
            throw new IngestException("unreadable", "The document cannot be read: " + e.getCause());
        } finally {
            thread.interrupt();
        }
    }

    private static ParsedDocument withText(ParsedDocument parsed) throws IngestException {
        if (parsed.text().isBlank()) {
            throw new IngestException("no_text", "expected text, found none: pictures of text are not read");
        }
        return parsed;
    }

    private static boolean isHtml(String type, String name, byte[] bytes) {
        if (type.startsWith("text/html") || type.startsWith("application/xhtml")) {
            return true;
        }
        if (type.startsWith("text/markdown") || name.endsWith(".md") || name.endsWith(".txt")) {
            return false;
        }
        String begin = new String(bytes, 0, Math.min(bytes.length, 200), StandardCharsets.ISO_8859_1)
                .strip()
                .toLowerCase(Locale.ROOT);
        return name.endsWith(".html")
                || name.endsWith(".htm")
                || begin.startsWith("<!doctype html")
                || begin.startsWith("<html");
    }

    private static String text(Fetcher.Fetched fetched) throws IngestException {
        String named = charset(fetched.contentType());
        try {
            Charset charset = named == null ? StandardCharsets.UTF_8 : Charset.forName(named);
            return charset.newDecoder().decode(ByteBuffer.wrap(fetched.bytes())).toString();
        } catch (CharacterCodingException | IllegalCharsetNameException | UnsupportedCharsetException e) {
            throw new IngestException(
                    "unsupported_format",
                    "expected HTML, Markdown or text in " + (named == null ? "UTF-8" : named) + ", found other bytes");
        }
    }

    private static @Nullable String charset(@Nullable String contentType) {
        Matcher matcher = CHARSET.matcher(contentType == null ? "" : contentType);
        return matcher.find() ? matcher.group(1) : null;
    }
}

package dev.millrace.llm.scripted;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.llm.ChatMessage.UserMessage;
import dev.millrace.llm.LanguageModel;
import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelErrorCode;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ModelReply.Usage;
import dev.millrace.llm.ModelRequest;
import dev.millrace.llm.StreamListener;
import dev.millrace.llm.ToolCallRequest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets another model answer and writes down what it was asked and what it said, as a script with which a {@link
 * ScriptedModel} gives the same replies to the same requests. Each reply is in the file before it is passed on.
 * Failures that may be tried again are not recorded, nor is a call that was cancelled: what counts is what the task
 * got.
 *
 * <p>The file holds the replies, but of a request only a fingerprint and the beginning of what the user said. A file
 * that is there already is continued.
 */
public final class RecordingModel implements LanguageModel {

    private static final Logger LOGGER = LoggerFactory.getLogger(RecordingModel.class);
    private static final int SHOWN_OF_A_QUESTION = 80;
    // YAML takes all of JSON as long as it is written in ASCII
    private static final JsonMapper JSON =
            JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

    private final LanguageModel model;
    private final Path file;
    private final ReentrantLock lock = new ReentrantLock();

    @Override
    public int contextWindow(@Nullable String named) {
        return model.contextWindow(named);
    }

    /**
     * Records to this file.
     *
     * @throws IllegalArgumentException if it cannot be written
     */
    public RecordingModel(LanguageModel model, Path file) {
        this.model = model;
        this.file = file;
        try {
            if (Files.notExists(file) || Files.size(file) == 0) {
                Files.writeString(file, """
                        # Recorded by Millrace; docs/scripted-model.md says how to play it.
                        model: %s
                        fallback: { fail: { code: script_error, message: "nothing was recorded for this request" } }
                        rules:
                        """.formatted(write(model.name())));
            }
        } catch (IOException e) {
            throw new IllegalArgumentException("record: expected a file that can be written, found " + file + ": " + e);
        }
    }

    @Override
    public ModelReply chat(ModelRequest request) throws ModelCallException {
        return recorded(request, () -> model.chat(request));
    }

    @Override
    public ModelReply stream(ModelRequest request, StreamListener listener) throws ModelCallException {
        return recorded(request, () -> model.stream(request, listener));
    }

    @Override
    public String name() {
        return model.name();
    }

    @Override
    public String description() {
        return model.description() + ", recorded to " + file;
    }

    @Override
    public String providerOf(@Nullable String name) {
        return model.providerOf(name);
    }

    @Override
    public @Nullable String fallbackFor(@Nullable String name) {
        return model.fallbackFor(name);
    }

    private interface Call {
        ModelReply run() throws ModelCallException;
    }

    private ModelReply recorded(ModelRequest request, Call call) throws ModelCallException {
        long start = System.nanoTime();
        try {
            ModelReply reply = call.run();
            append(request, reply(reply, start));
            return reply;
        } catch (ModelCallException e) {
            if (!e.retryable() && e.code() != ModelErrorCode.CANCELLED && e.code() != ModelErrorCode.INTERNAL_ERROR) {
                ObjectNode json = JSON.createObjectNode();
                json.putObject("fail").put("code", e.code().wireName()).put("message", e.getMessage());
                append(request, json);
            }
            throw e;
        }
    }

    private static ObjectNode reply(ModelReply reply, long start) {
        ObjectNode json = JSON.createObjectNode();
        if (reply.reasoning() != null) {
            json.put("reasoning", reply.reasoning());
        }
        // a reply must say something; an empty one is one without words
        if (reply.text() != null || reply.toolCalls().isEmpty()) {
            json.put("text", reply.text() == null ? "" : reply.text());
        }
        for (ToolCallRequest call : reply.toolCalls()) {
            ObjectNode made = json.withArray("calls").addObject().put("tool", call.toolName());
            if (call.malformedArguments() == null) {
                made.set("arguments", JSON.valueToTree(call.arguments()));
            } else {
                made.put("malformedArguments", call.malformedArguments());
            }
        }
        json.put("finishReason", reply.finishReason().wireName());
        json.put("latencyMs", (System.nanoTime() - start) / 1_000_000);
        Usage usage = reply.usage();
        json.putObject("usage")
                .put("inputTokens", usage.inputTokens())
                .put("outputTokens", usage.outputTokens())
                .put("cachedInputTokens", usage.cachedInputTokens())
                .put("reasoningTokens", usage.reasoningTokens());
        return json;
    }

    private void append(ModelRequest request, ObjectNode reply) {
        ObjectNode rule =
                JSON.createObjectNode().put("request", Fingerprint.of(request)).put("literal", true);
        rule.putArray("sequence").add(reply);
        String entry = "  # " + question(request) + "\n  - " + write(rule) + "\n";
        lock.lock();
        try {
            Files.write(file, entry.getBytes(StandardCharsets.UTF_8), StandardOpenOption.APPEND);
        } catch (IOException e) {
            // the reply is paid for and good: a recording with a gap is the smaller loss
            LOGGER.atWarn()
                    .addKeyValue("callId", request.callId())
                    .addKeyValue("file", file)
                    .setCause(e)
                    .log("a model call could not be recorded");
        } finally {
            lock.unlock();
        }
    }

    /** The beginning of what the user said last, in one line of ASCII. */
    private static String question(ModelRequest request) {
        List<String> said = new ArrayList<>();
        request.messages().forEach(message -> {
            if (message instanceof UserMessage user) {
                said.add(user.text());
            }
        });
        String last = said.isEmpty() ? "" : said.getLast();
        return write(last.length() <= SHOWN_OF_A_QUESTION ? last : last.substring(0, SHOWN_OF_A_QUESTION));
    }

    private static String write(Object value) {
        try {
            return JSON.writeValueAsString(value).replace("\u007f", "\\u007f");
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("a recorded call: expected JSON values", e);
        }
    }
}

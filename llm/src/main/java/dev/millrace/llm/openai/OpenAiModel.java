package dev.millrace.llm.openai;

import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiChatRequestParameters;
import dev.millrace.llm.LanguageModel;
import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelErrorCode;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ModelRequest;
import java.net.URI;
import java.util.Map;
import java.util.Objects;

/** A model behind OpenAI's chat completions API, at OpenAI or anywhere else. One HTTP request per call, no retries. */
public final class OpenAiModel implements LanguageModel {

    private final String name;
    private final URI baseUrl;
    private final OpenAiFailures failures;
    private final OpenAiChatModel model;

    /** Opens no connection yet. */
    public OpenAiModel(OpenAiSettings settings) {
        name = Objects.requireNonNullElse(settings.model(), OpenAiSettings.DEFAULT_MODEL);
        baseUrl = Objects.requireNonNullElse(settings.baseUrl(), OpenAiSettings.OPENAI);
        failures = new OpenAiFailures(baseUrl, settings.apiKey());
        model = OpenAiChatModel.builder()
                .httpClientBuilder(new AbortableHttpClient.Builder(settings, failures))
                .baseUrl(baseUrl.toString())
                .apiKey(settings.apiKey() == null ? null : settings.apiKey().value())
                .modelName(name)
                .maxRetries(0)
                .returnThinking(true)
                .build();
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String description() {
        return name + " at " + baseUrl;
    }

    @Override
    public ModelReply chat(ModelRequest request) throws ModelCallException {
        ChatResponse response;
        try {
            response = model.chat(ChatRequest.builder()
                    .messages(OpenAiMessages.toLangChain(request.messages()))
                    .parameters(parameters(request))
                    .build());
        } catch (RuntimeException e) {
            throw failures.unreadable(e);
        }
        ModelReply reply = OpenAiMessages.toReply(request, Objects.requireNonNullElse(request.model(), name), response);
        if (reply.finishReason() == dev.millrace.llm.FinishReason.CONTENT_FILTER
                && reply.text() == null
                && reply.toolCalls().isEmpty()) {
            throw new ModelCallException(
                    ModelErrorCode.CONTENT_FILTERED, "the content filter of " + baseUrl + " stopped the reply");
        }
        return reply;
    }

    private OpenAiChatRequestParameters parameters(ModelRequest request) {
        OpenAiChatRequestParameters.Builder parameters = OpenAiChatRequestParameters.builder();
        if (request.model() != null) {
            parameters.modelName(request.model());
        }
        if (request.temperature() != null) {
            parameters.temperature(request.temperature());
        }
        if (request.maxOutputTokens() != null) {
            // OpenAI's newer models refuse max_tokens, and few other servers know max_completion_tokens
            if (baseUrl.getHost().endsWith("openai.com")) {
                parameters.maxCompletionTokens(request.maxOutputTokens());
            } else {
                parameters.maxOutputTokens(request.maxOutputTokens());
            }
        }
        if (!request.tools().isEmpty()) {
            parameters.customParameters(Map.of("tools", OpenAiMessages.tools(request.tools())));
        }
        return parameters.build();
    }
}

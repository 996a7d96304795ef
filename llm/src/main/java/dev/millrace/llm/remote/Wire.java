package dev.millrace.llm.remote;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.langchain4j.http.client.HttpClientBuilder;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.millrace.llm.ModelRequest;

/** What is particular to one provider. Stateless. */
interface Wire {

    /** LangChain4j's model for whole replies. */
    ChatModel whole(RemoteSettings settings, HttpClientBuilder http);

    /** LangChain4j's model for streams. */
    StreamingChatModel streaming(RemoteSettings settings, HttpClientBuilder http);

    /** Puts into the body what LangChain4j has no words for, tools above all: their schemas are to pass unchanged. */
    void complete(ObjectNode body, ModelRequest request, RemoteSettings settings);

    /**
     * Reads a whole reply, or one piece of a stream, before LangChain4j does.
     *
     * @return whether the JSON was put right in place, so that it has to be written again
     */
    boolean read(JsonNode json, Notes notes);
}

package dev.millrace.gateway.rest.knowledge;

import dev.millrace.gateway.query.Knowledge;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.problems.Refusals;
import dev.millrace.http.client.AgentClient;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Problem;
import jakarta.ws.rs.core.Response;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Passes on what the knowledge service answers, or that it is not there. */
final class KnowledgeAnswers {

    private KnowledgeAnswers() {}

    static Response get(Knowledge knowledge, String path, Map<String, @Nullable String> query)
            throws InterruptedException {
        try {
            AgentClient.Answer answer = knowledge.client().get(path, query);
            if (!answer.found()) {
                throw Refusals.of(404, answer.json());
            }
            return Response.ok(answer.json()).build();
        } catch (QueryUnavailableException e) {
            throw unavailable(e);
        }
    }

    static Response change(
            Knowledge knowledge, String method, String path, Map<String, @Nullable String> query, byte[] body)
            throws InterruptedException {
        try {
            AgentClient.Reply reply = knowledge.client().change(method, path, query, body);
            if (!reply.done()) {
                throw Refusals.of(reply.status(), reply.json());
            }
            return Response.status(reply.status()).entity(reply.json()).build();
        } catch (QueryUnavailableException e) {
            throw unavailable(e);
        }
    }

    private static ProblemException unavailable(QueryUnavailableException e) {
        return new ProblemException(Problem.of(
                503,
                "knowledge_unavailable",
                "Knowledge is not available",
                "Documents are looked after by the knowledge service, a process of its own (docs/knowledge.md): "
                        + e.getMessage() + "."));
    }
}

package dev.millrace.agent.knowledge;

import dev.millrace.agent.Passages;
import dev.millrace.api.KnowledgeView;
import dev.millrace.http.client.AgentClient;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.JsonText;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks the knowledge service. Where it is not there, a task goes on without passages. For any thread. */
public final class ServedPassages implements Passages, AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(ServedPassages.class);

    /** What of a question is looked for, in characters: it stands in an address. */
    private static final int MAX_QUESTION = 1_000;

    private final AgentClient service;

    /**
     * Asks nothing yet.
     *
     * @param service closed with this
     */
    public ServedPassages(AgentClient service) {
        this.service = service;
    }

    @Override
    public List<Passage> find(Wanted wanted) throws InterruptedException {
        Map<String, @Nullable String> query = new LinkedHashMap<>();
        query.put("namespace", wanted.namespace());
        query.put("collection", wanted.collection());
        query.put("q", JsonText.begin(wanted.question().strip(), MAX_QUESTION));
        query.put("limit", Integer.toString(wanted.limit()));
        try {
            AgentClient.Answer answer = service.get(AgentClient.path("knowledge", "search"), query);
            return answer.found()
                    ? answer.as(KnowledgeView.Hits.class).hits().stream()
                            .map(hit -> new Passage(hit.title(), hit.source(), hit.section(), hit.text()))
                            .toList()
                    : List.of();
        } catch (QueryUnavailableException e) {
            LOGGER.atWarn()
                    .addKeyValue("cause", e.getMessage())
                    .log("Documents could not be looked at; a task goes on without passages");
            return List.of();
        }
    }

    @Override
    public void close() {
        service.close();
    }
}

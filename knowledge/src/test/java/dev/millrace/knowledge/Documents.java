package dev.millrace.knowledge;

import dev.millrace.api.KnowledgeView;

/** Documents for tests. */
final class Documents {

    private Documents() {}

    static KnowledgeView.Document indexed(String namespace, String id, String version, int chunks) {
        return new KnowledgeView.Document(
                id,
                namespace,
                "default",
                "text://" + id,
                id,
                "indexed",
                "hash",
                version,
                chunks,
                "model",
                null,
                null,
                null,
                null,
                "2026-11-23T00:00:00Z",
                "2026-11-23T00:00:00Z",
                null);
    }
}

package dev.millrace.gateway.rest.a2a;

/** One piece of a stream. */
sealed interface A2aUpdate {

    /** The task, with which each stream begins. */
    record Whole(A2aTask task) implements A2aUpdate {}

    /** It is further. */
    record Moved(Status statusUpdate) implements A2aUpdate {
        Moved(A2aTask.About about, A2aTask.Status status) {
            this(new Status(about.taskId(), about.contextId(), status));
        }
    }

    /** It has more of its answer, or another one. */
    record Written(Artifact artifactUpdate) implements A2aUpdate {
        Written(A2aTask.About about, String text, boolean append, boolean last) {
            this(new Artifact(about.taskId(), about.contextId(), A2aTask.Artifact.answer(text), append, last));
        }
    }

    record Status(String taskId, String contextId, A2aTask.Status status) {}

    record Artifact(String taskId, String contextId, A2aTask.Artifact artifact, boolean append, boolean lastChunk) {}
}

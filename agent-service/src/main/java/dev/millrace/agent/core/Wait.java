package dev.millrace.agent.core;

import java.util.List;

/** What a task waits for. */
public sealed interface Wait {

    /** Its turn. */
    record Admission() implements Wait {}

    /** The reply to this model call. */
    record Model(String callId) implements Wait {}

    /** The summary that this model call is to give. */
    record Summary(String callId) implements Wait {}

    /** The results of these tool calls. */
    record Tools(List<String> callIds) implements Wait {}

    /** What somebody says to its question. */
    record Answer(String question) implements Wait {}

    /** The decisions of people on these tool calls. */
    record Approval(List<String> callIds) implements Wait {}

    /** The ends of the sub-tasks that these tool calls have started, and nothing else. */
    record Children(List<String> callIds) implements Wait {}

    /** Somebody who lets it go on, since somebody has suspended it. */
    record Resume() implements Wait {}

    /** Ids of calls. */
    static List<String> ids(List<Plan.CallStep> calls) {
        return calls.stream().map(Plan.CallStep::callId).toList();
    }
}

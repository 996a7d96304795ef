package dev.millrace.llm;

import java.util.ArrayList;
import java.util.List;

/** A reply that did not come in pieces, in the fewest pieces. */
final class WholeReply {

    private WholeReply() {}

    static List<ModelDelta> deltas(ModelReply reply) {
        List<ModelDelta> deltas = new ArrayList<>();
        if (reply.reasoning() != null) {
            deltas.add(new ModelDelta.Reasoning(reply.reasoning()));
        }
        if (reply.text() != null) {
            deltas.add(new ModelDelta.Text(reply.text()));
        }
        for (int i = 0; i < reply.toolCalls().size(); i++) {
            ToolCallRequest call = reply.toolCalls().get(i);
            deltas.add(new ModelDelta.ToolCall(i, call.toolCallId(), call.toolName(), call.writtenArguments()));
        }
        return deltas;
    }
}

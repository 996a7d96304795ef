package dev.millrace.llm.scripted;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A piece of YAML that remembers its line, counted from 1. */
sealed interface ScriptNode {

    int line();

    /** What it is, for people. */
    String kind();

    /** Keys in the order of the file. */
    record Mapping(int line, Map<String, ScriptNode> entries) implements ScriptNode {
        @Override
        public String kind() {
            return "a mapping";
        }
    }

    /** Items in the order of the file. */
    record Sequence(int line, List<ScriptNode> items) implements ScriptNode {
        @Override
        public String kind() {
            return "a list";
        }
    }

    /** A String, Number, Boolean or null. */
    record Scalar(int line, @Nullable Object value) implements ScriptNode {
        @Override
        public String kind() {
            return switch (value) {
                case null -> "nothing";
                case String s -> "the text \"" + s + "\"";
                case Number n -> "the number " + n;
                default -> value.toString();
            };
        }
    }
}

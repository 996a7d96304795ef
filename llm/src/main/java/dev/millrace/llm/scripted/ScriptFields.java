package dev.millrace.llm.scripted;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;

/** A mapping of a script under its path ({@code rules[2]}), read key by key; every complaint names the line. */
record ScriptFields(String source, String path, ScriptNode.Mapping mapping) {

    /** Fails if the node is no mapping or has a key that is not among those allowed. */
    static ScriptFields of(String source, String path, ScriptNode node, Set<String> allowed) {
        ScriptFields fields = of(source, path, node);
        for (var entry : fields.mapping.entries().entrySet()) {
            if (!allowed.contains(entry.getKey())) {
                throw new InvalidScriptException(
                        source,
                        entry.getValue().line(),
                        path + ": unknown key \"" + entry.getKey() + "\", expected one of "
                                + String.join(", ", new TreeSet<>(allowed)));
            }
        }
        return fields;
    }

    /** As above, with any keys. */
    static ScriptFields of(String source, String path, ScriptNode node) {
        if (node instanceof ScriptNode.Mapping mapping) {
            return new ScriptFields(source, path, mapping);
        }
        throw new InvalidScriptException(source, node.line(), path + ": expected a mapping, found " + node.kind());
    }

    int line() {
        return mapping.line();
    }

    boolean has(String key) {
        return mapping.entries().containsKey(key);
    }

    /** Null if the key is absent or has no value. */
    @Nullable
    ScriptNode node(String key) {
        ScriptNode node = mapping.entries().get(key);
        return node instanceof ScriptNode.Scalar scalar && scalar.value() == null ? null : node;
    }

    @Nullable
    String text(String key) {
        ScriptNode node = node(key);
        if (node == null) {
            return null;
        }
        if (node instanceof ScriptNode.Scalar scalar && scalar.value() instanceof String text) {
            return text;
        }
        boolean quotable = node instanceof ScriptNode.Scalar;
        throw problem(
                node.line(), key, "expected a text, found " + node.kind() + (quotable ? " (put it in quotes)" : ""));
    }

    String requiredText(String key) {
        String text = text(key);
        if (text == null || text.isBlank()) {
            throw problem(line(), key, "expected a text, found nothing");
        }
        return text;
    }

    @Nullable
    Long wholeNumber(String key) {
        ScriptNode node = node(key);
        if (node == null) {
            return null;
        }
        if (node instanceof ScriptNode.Scalar scalar
                && scalar.value() instanceof Number number
                && (number instanceof Integer || number instanceof Long || number instanceof BigInteger)
                && number.longValue() >= 0
                && number.longValue() <= Integer.MAX_VALUE) {
            return number.longValue();
        }
        throw problem(
                node.line(), key, "expected a whole number from 0 to " + Integer.MAX_VALUE + ", found " + node.kind());
    }

    @Nullable
    Boolean flag(String key) {
        ScriptNode node = node(key);
        if (node == null) {
            return null;
        }
        if (node instanceof ScriptNode.Scalar scalar && scalar.value() instanceof Boolean flag) {
            return flag;
        }
        throw problem(node.line(), key, "expected true or false, found " + node.kind());
    }

    @Nullable
    Pattern pattern(String key) {
        String regex = text(key);
        if (regex == null) {
            return null;
        }
        try {
            return Pattern.compile(regex);
        } catch (PatternSyntaxException e) {
            throw problem(
                    lineOf(key),
                    key,
                    "expected a regular expression (Java), found one with: " + e.getDescription()
                            + (e.getIndex() < 0 ? "" : " near character " + (e.getIndex() + 1)));
        }
    }

    /** Null if the key is absent; an empty list is a list. */
    @Nullable
    List<ScriptNode> items(String key) {
        ScriptNode node = node(key);
        if (node == null) {
            return null;
        }
        if (node instanceof ScriptNode.Sequence sequence) {
            return sequence.items();
        }
        throw problem(node.line(), key, "expected a list, found " + node.kind());
    }

    @Nullable
    List<String> texts(String key) {
        List<ScriptNode> items = items(key);
        if (items == null) {
            return null;
        }
        List<String> texts = new ArrayList<>();
        for (ScriptNode item : items) {
            if (!(item instanceof ScriptNode.Scalar scalar) || !(scalar.value() instanceof String text)) {
                throw problem(item.line(), key, "expected a list of texts, found " + item.kind() + " in it");
            }
            texts.add(text);
        }
        return List.copyOf(texts);
    }

    /** The constant whose name in lower snake case is the value. */
    <E extends Enum<E>> @Nullable E choice(String key, Class<E> type) {
        String text = text(key);
        if (text == null) {
            return null;
        }
        List<String> names = new ArrayList<>();
        for (E constant : type.getEnumConstants()) {
            String name = constant.name().toLowerCase(Locale.ROOT);
            if (name.equals(text)) {
                return constant;
            }
            names.add(name);
        }
        throw problem(lineOf(key), key, "expected one of " + String.join(", ", names) + ", found \"" + text + "\"");
    }

    int lineOf(String key) {
        ScriptNode node = mapping.entries().get(key);
        return node == null ? line() : node.line();
    }

    InvalidScriptException problem(int line, String key, String problem) {
        return new InvalidScriptException(source, line, (path.isEmpty() ? key : path + "." + key) + ": " + problem);
    }
}

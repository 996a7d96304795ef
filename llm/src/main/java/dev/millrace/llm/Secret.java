package dev.millrace.llm;

/** A key or password that does not show itself when printed. */
public record Secret(String value) {

    public Secret {
        if (value.isBlank()) {
            throw new IllegalArgumentException("a secret: expected a value, found a blank text");
        }
    }

    @Override
    public String toString() {
        return "***";
    }
}

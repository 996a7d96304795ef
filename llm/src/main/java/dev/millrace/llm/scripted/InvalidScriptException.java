package dev.millrace.llm.scripted;

/** A script that cannot be used. The message says where (file and line), what was expected and what was found. */
public final class InvalidScriptException extends RuntimeException {

    InvalidScriptException(String source, int line, String problem) {
        super(source + ", line " + line + ": " + problem);
    }

    InvalidScriptException(String source, String problem) {
        super(source + ": " + problem);
    }
}

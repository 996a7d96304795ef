package dev.millrace.standalone;

/** Finds, in what the start of Quarkus throws, the sentence that its user needs. */
final class StartFailures {

    private StartFailures() {}

    /** The message of the innermost cause, with its kind if the message alone would say little. */
    static String describe(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        String message = root.getMessage();
        if (message == null || message.isBlank()) {
            return "The services did not start: " + root.getClass().getSimpleName()
                    + ". Run it again with --verbose to see more.";
        }
        // our own messages are sentences; others need to be told apart by their kind
        boolean ours =
                root.getClass().getName().startsWith("dev.millrace.") || root instanceof IllegalArgumentException;
        return "The services did not start: " + (ours ? "" : root.getClass().getSimpleName() + ": ") + message;
    }
}

package dev.millrace.standalone.cli;

import picocli.CommandLine.Option;

/** Who changes memory. */
final class AuthorOption {

    @Option(
            names = "--by",
            paramLabel = "NAME",
            defaultValue = "${sys:user.name}",
            description = "Who you are, for the history (default: ${DEFAULT-VALUE}).")
    private String by = "";

    String by() {
        return by;
    }
}

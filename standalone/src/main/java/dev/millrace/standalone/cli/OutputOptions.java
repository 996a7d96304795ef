package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** How a command shows its result: in words and tables for people, or as JSON for programs. */
public final class OutputOptions {

    @Option(
            names = "--json",
            description = "Print JSON as the HTTP API gives it, one line for each thing, for jq and the like.")
    private boolean json;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec = CommandSpec.create();

    boolean json() {
        return json;
    }

    private Terminal terminal() {
        return ((TopCommand) spec.root().userObject()).terminal();
    }

    /**
     * Prints a list.
     *
     * @param listed an array, or anything else that has elements of this type
     * @param none is said on standard error if there is nothing
     * @param table the lines for people, the heading first; not asked for if there is nothing
     */
    <T> void print(JsonNode listed, Class<T> type, String none, Function<List<T>, List<String>> table) {
        print(listed, none, () -> table.apply(GatewayClient.all(listed, type)));
    }

    /** The same for elements that are read in a way of their own. */
    void print(JsonNode listed, String none, Supplier<List<String>> table) {
        if (listed.isEmpty()) {
            terminal().err().println(none);
        } else if (json) {
            listed.forEach(this::print);
        } else {
            Colours.of(terminal()).table(table.get()).forEach(terminal().out()::println);
        }
    }

    /** Prints one thing as JSON. */
    void print(JsonNode one) {
        terminal().out().println(Json.writeText(one));
    }

    /**
     * Prints what was done.
     *
     * @param answer for programs: JSON, or a record of the API
     * @param words for people
     */
    public void done(Object answer, String words) {
        terminal().out().println(json ? Json.writeText(answer) : words);
    }
}

package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code millrace redrive}: puts dead letters back on their lanes, and prints the ids of their events. */
@Command(
        name = "redrive",
        description = "Puts dead letters back on the lanes that they were read from: one, or all of a kind.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  redrive 0:41",
            "  redrive 0:41 --payload '{\"text\": \"What does notes.txt say?\"}'",
            "  redrive --reason unknown_agent"
        })
public final class RedriveCommand extends ClientCommand {

    @Mixin
    private LetterChoice letters = new LetterChoice();

    @Mixin
    private PayloadOption payload = new PayloadOption();

    @Override
    int run(GatewayClient client) {
        String one = letters.one();
        if (one == null && payload.isGiven()) {
            throw new CommandException(ExitCodes.USAGE, "expected CURSOR with --payload, found all of a kind");
        }
        if (one != null) {
            sent(client.post(LetterChoice.route(one, "redrive"), payload.body(), JsonNode.class));
            return ExitCodes.DONE;
        }
        letters.all(client, "redrive", answer -> {
            answer.path("redriven").forEach(this::sent);
            answer.path("kept")
                    .forEach(place ->
                            err(place.asText() + " cannot be sent again: it was on no lane, or was not kept."));
        });
        return ExitCodes.DONE;
    }

    private void sent(JsonNode letter) {
        done(letter, letter.path("eventId").asText("-"));
    }
}

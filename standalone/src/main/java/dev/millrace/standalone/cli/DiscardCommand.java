package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code millrace discard}: has dead letters be shown no more, and prints their places. */
@Command(
        name = "discard",
        description = "Has dead letters be shown no more, since nothing is to become of them: one, or all of a kind.",
        footerHeading = "%nExamples:%n",
        footer = {"  discard 0:41", "  discard --reason unknown_task", "  discard --task order-7 --json"})
public final class DiscardCommand extends ClientCommand {

    @Mixin
    private LetterChoice letters = new LetterChoice();

    @Override
    int run(GatewayClient client) {
        String one = letters.one();
        if (one != null) {
            gone(client.post(LetterChoice.route(one, "discard"), new byte[0], Map.of()));
        } else {
            letters.all(client, "discard", answer -> answer.path("discarded").forEach(this::gone));
        }
        return ExitCodes.DONE;
    }

    private void gone(JsonNode letter) {
        done(letter, letter.path("cursor").asText());
    }
}

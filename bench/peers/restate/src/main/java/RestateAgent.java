import dev.restate.sdk.Context;
import dev.restate.sdk.annotation.Handler;
import dev.restate.sdk.annotation.Name;
import dev.restate.sdk.annotation.Service;
import dev.restate.sdk.endpoint.Endpoint;
import dev.restate.sdk.http.vertx.RestateHttpServer;
import java.util.ArrayList;
import java.util.List;

/** The agent loop on Restate: each model call and each tool call is a step of its journal. One argument: the port. */
@Service
@Name("agent")
public class RestateAgent {

    /** What is asked, and how long each model call takes. */
    public record Question(String text, int modelMs) {}

    /** What has been said; {@code call} is what a tool is asked for. */
    public record Message(String role, String content, String call) {}

    /** The loop. */
    @Handler
    public String run(Context context, Question question) {
        List<Message> messages = new ArrayList<>(List.of(new Message("user", question.text(), null)));
        for (int step = 0; ; step++) {
            Message reply = context.run("model-" + step, Message.class, () -> model(messages, question.modelMs()));
            messages.add(reply);
            if (reply.call() == null) {
                return reply.content();
            }
            messages.add(context.run("tool-" + step, Message.class, () -> new Message("tool", reply.call(), null)));
        }
    }

    /** Asks for a tool first, and then answers with what came of it. */
    private static Message model(List<Message> messages, int millis) throws InterruptedException {
        Thread.sleep(millis);
        Message last = messages.get(messages.size() - 1);
        return last.role().equals("user")
                ? new Message("assistant", null, last.content())
                : new Message("assistant", "answer: " + last.content(), null);
    }

    /** Serves until it is ended. */
    public static void main(String... args) {
        RestateHttpServer.listen(Endpoint.bind(new RestateAgent()), Integer.parseInt(args[0]));
    }
}

package dev.millrace.standalone;

import dev.millrace.llm.LanguageModel;
import dev.millrace.standalone.cli.Hint;
import dev.millrace.standalone.cli.Terminal;
import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.QuarkusApplication;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.eclipse.microprofile.config.Config;

/** All services in one Quarkus application: says when it is ready, and then waits for its end. */
@Singleton
public class Standalone implements QuarkusApplication {

    /** Key: the folder where everything is kept. */
    static final String DATA_KEY = "millrace.standalone.data";

    private static final Duration SAY_AGAIN = Duration.ofSeconds(30);

    private final Config config;
    private final LanguageModel model;
    private final Terminal terminal = Terminal.ofProcess();

    @Inject
    Standalone(Config config, LanguageModel model) {
        this.config = config;
        this.model = model;
    }

    @Override
    public int run(String... args) throws InterruptedException {
        OldGeneration.keepSmall();
        Thread waiter = Thread.ofVirtual().name("await-ready").start(this::announce);
        Quarkus.waitForExit();
        waiter.interrupt();
        return 0;
    }

    private void announce() {
        String url = "http://localhost:" + value("quarkus.http.port");
        Readiness readiness = new Readiness(url.replace("localhost", "127.0.0.1"));
        try {
            while (!readiness.await(SAY_AGAIN)) {
                terminal.err().println("millrace: not ready yet: " + readiness.reason());
            }
        } catch (InterruptedException e) {
            return;
        }
        double seconds = ManagementFactory.getRuntimeMXBean().getUptime() / 1_000.0;
        terminal.out().print("""
                        Millrace is ready, after %.1f s.
                          HTTP       %s  (%s/q/swagger-ui shows the API)
                          console    %s/console/
                          Kafka      %s
                          data       %s
                          workspace  %s
                          runs       broker, agent-service, tool-service, reflection-service, gateway-service
                          model      %s
                          ask        %s
                        """.formatted(
                seconds,
                url,
                url,
                url,
                value("kafka.bootstrap.servers"),
                value(DATA_KEY),
                Path.of(value("millrace.tools.workspace")),
                model.description(),
                Hint.of(URI.create(url), "ask", "Which files are in the workspace, and what does notes.txt say?")));
        terminal.out().flush();
    }

    private String value(String key) {
        return config.getValue(key, String.class);
    }
}

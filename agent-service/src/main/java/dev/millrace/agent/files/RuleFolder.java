package dev.millrace.agent.files;

import dev.millrace.agent.rules.Rule;
import dev.millrace.agent.rules.Rules;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A folder of rules, {@code *.yaml} each, looked at again and again. Files come in the order of their names, on top of
 * the rules that are built in. One that is no good leaves its rules as they were. Each instance has its own look: all
 * of them are given the same folder.
 */
public final class RuleFolder implements AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(RuleFolder.class);

    private final Path folder;
    private final Rules rules;
    private final FolderFollower follower;
    /** What the files say, by name; of one that is no good what it said before. */
    private Map<String, List<Rule>> inForce = Map.of();

    /**
     * Looks at nothing yet.
     *
     * @param interval between two looks, more than zero
     */
    public RuleFolder(Path folder, Rules rules, Duration interval) {
        this.folder = folder;
        this.rules = rules;
        this.follower = new FolderFollower(folder, "rules", interval, this::apply);
    }

    /** Puts in force what there is now, and goes on looking on a thread of its own. Once. */
    public void start() {
        look(true);
        follower.start();
    }

    @Override
    public void close() {
        follower.close();
    }

    /**
     * One look.
     *
     * @param atOnce whether a change counts although no earlier look has seen it
     */
    void look(boolean atOnce) {
        try {
            follower.look(atOnce);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean apply(Map<String, String> now, Map<String, String> last) {
        Map<String, List<Rule>> next = new HashMap<>();
        now.forEach((name, text) -> {
            try {
                next.put(name, RuleFile.read(text));
            } catch (InvalidAgentException e) {
                next.put(name, inForce.getOrDefault(name, List.of()));
                if (!text.equals(last.get(name))) {
                    LOGGER.atError()
                            .addKeyValue("file", folder.resolve(name))
                            .addKeyValue("problem", e.getMessage())
                            .log("A file of rules is no good; its rules stay as they were");
                }
            }
        });
        List<Rule> all = new ArrayList<>();
        new TreeMap<>(next).values().forEach(all::addAll);
        rules.useFiles(all);
        inForce = next;
        LOGGER.atInfo()
                .addKeyValue("folder", folder)
                .addKeyValue(
                        "rules",
                        rules.current().rules().stream().map(Rule::reference).toList())
                .log("Rules are in force");
        return true;
    }
}

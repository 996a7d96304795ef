package dev.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.engine.Provenance.Origin;
import dev.millrace.engine.Provenance.Verdict;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ProvenanceTest {

    private static final Path FILE = Path.of("state", "machine.origin.json");
    private static final Origin BEFORE = new Origin("c1", Map.of("rows-changelog", "r1", "seen-changelog", "s1"));

    @Test
    void shouldTakeWhatIsOfTheSameChangelogs() {
        Origin more =
                new Origin("c1", Map.of("rows-changelog", "r1", "seen-changelog", "s1", "cancels-changelog", "new"));

        assertThat(judge(Optional.of(BEFORE), BEFORE)).isEqualTo(new Verdict.Fits());
        assertThat(judge(Optional.of(BEFORE), more)).isEqualTo(new Verdict.Fits());
        assertThat(judge(Optional.empty(), BEFORE)).isEqualTo(new Verdict.Fits());
    }

    @Test
    void shouldTellStateOfAnotherClusterWhateverItsTopicsAreCalled() {
        assertThat(judge(Optional.of(BEFORE), new Origin("c2", BEFORE.changelogs())))
                .isEqualTo(new Verdict.Elsewhere("it is of the cluster c1, this one is c2"));
    }

    @Test
    void shouldNotLetGoOfStateWhoseChangelogIsGoneOrWasMadeAgain() {
        Verdict gone = judge(Optional.of(BEFORE), new Origin("c1", Map.of("rows-changelog", "r1")));
        Verdict again =
                judge(Optional.of(BEFORE), new Origin("c1", Map.of("rows-changelog", "r2", "seen-changelog", "s1")));

        assertThat(gone)
                .isInstanceOfSatisfying(
                        Verdict.Orphaned.class,
                        orphaned -> assertThat(orphaned.reason())
                                .contains(
                                        "expected the topic seen-changelog with the id s1",
                                        "found none",
                                        FILE.toString()));
        assertThat(again)
                .isInstanceOfSatisfying(
                        Verdict.Orphaned.class,
                        orphaned -> assertThat(orphaned.reason())
                                .contains(
                                        "expected the topic rows-changelog with the id r1",
                                        "found one that was made later (r2)"));
    }

    private static Verdict judge(Optional<Origin> written, Origin found) {
        return Provenance.judge(written, found, FILE);
    }
}

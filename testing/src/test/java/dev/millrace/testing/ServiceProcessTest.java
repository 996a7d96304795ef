package dev.millrace.testing;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ServiceProcessTest {

    @Test
    void shouldStartTestsWithTheQuickCompilerAlone() {
        assertThat(ServiceProcess.mainClass(ServiceProcessTest.class).command())
                .contains("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");
    }

    @Test
    void shouldLeaveCompilersAndCollectorToTheJvmInWhatIsMeasured() {
        assertThat(ServiceProcess.mainClass(ServiceProcessTest.class)
                        .asInProduction()
                        .command())
                .noneMatch(argument -> argument.startsWith("-XX:"));
    }
}

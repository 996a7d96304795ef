package dev.millrace.client;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ArchitectureTest {

    private static final int JAVA_17 = 61;

    private static final JavaClasses CLIENT = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.millrace.client");

    @Test
    void shouldNeedNothingButTheJdkAndJackson() {
        classes()
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(
                        "dev.millrace.client",
                        "dev.millrace.api",
                        "java..",
                        "com.fasterxml.jackson..",
                        "org.jspecify..")
                .because("whoever uses it has a framework already, or wants none")
                .check(CLIENT);
    }

    @Test
    @DisplayName("who has JDK 17 can use it, and the records of the API")
    void shouldBeOfJava17() throws IOException {
        assertThat(version(Millrace.class)).isEqualTo(JAVA_17);
        assertThat(version(dev.millrace.api.Task.class)).isEqualTo(JAVA_17);
    }

    private static int version(Class<?> type) throws IOException {
        try (InputStream file = type.getResourceAsStream(type.getSimpleName() + ".class");
                DataInputStream data = new DataInputStream(Objects.requireNonNull(file))) {
            assertThat(data.readInt()).isEqualTo(0xCAFEBABE);
            assertThat(data.readUnsignedShort()).as("minor version").isZero();
            return data.readUnsignedShort();
        }
    }
}

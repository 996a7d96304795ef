package dev.millrace.tool.api;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ArchitectureTest {

    private static final int JAVA_17 = 61;

    private static final JavaClasses API = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.millrace.tool.api");

    @Test
    void shouldNeedNothingButTheJdk() {
        classes()
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage("dev.millrace.tool.api", "java..", "org.jspecify..")
                .because("whoever writes a tool compiles against one jar; JSpecify is for compilers that know it")
                .check(API);
    }

    @Test
    @DisplayName("who has JDK 17 can compile against it")
    void shouldBeOfJava17() throws IOException {
        try (InputStream file = Tool.class.getResourceAsStream("Tool.class");
                DataInputStream data = new DataInputStream(java.util.Objects.requireNonNull(file))) {
            assertThat(data.readInt()).isEqualTo(0xCAFEBABE);
            assertThat(data.readUnsignedShort()).as("minor version").isZero();
            assertThat(data.readUnsignedShort()).isEqualTo(JAVA_17);
        }
    }
}

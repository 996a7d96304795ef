package dev.millrace.llm;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.constructors;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaConstructor;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;

class ArchitectureTest {

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.millrace.llm");

    @Test
    void shouldStayAPlainLibrary() {
        classes()
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(
                        "java..", "org.jspecify..", "org.slf4j..", "com.fasterxml.jackson..", "dev.millrace.llm..")
                .because("the services wire it; it knows no container, no Kafka and no event")
                .check(CLASSES);
    }

    @Test
    void shouldHaveNoCyclesBetweenPackages() {
        slices().matching("dev.millrace.(llm..)")
                .should()
                .beFreeOfCycles()
                .because("the port knows no model, and no model knows the configuration")
                .check(CLASSES);
    }

    @Test
    void shouldUseTheNamesOfTheHouse() {
        noClasses()
                .should()
                .haveNameMatching(".*(Manager|Helper|Util|Utils|Impl|Base|Abstract|Info|Data|DTO|Service)")
                .orShould()
                .resideInAnyPackage("..util..", "..common..", "..impl..", "..model..", "..helper..")
                .because("such a name says nothing about what the class promises")
                .check(CLASSES);
        fields().that()
                .haveRawType(Logger.class)
                .should()
                .haveName("LOGGER")
                .because("one name for one thing")
                .check(CLASSES);
    }

    @Test
    void shouldNeverPrint() {
        noClasses()
                .should()
                .accessField(System.class, "out")
                .orShould()
                .accessField(System.class, "err")
                .because("only the command line prints")
                .check(CLASSES);
    }

    @Test
    void shouldHaveFewConstructorParameters() {
        constructors()
                .that()
                .areDeclaredInClassesThat()
                .areNotAssignableTo(Record.class)
                .should(new ArchCondition<JavaConstructor>("have at most five parameters") {
                    @Override
                    public void check(JavaConstructor constructor, ConditionEvents events) {
                        if (constructor.getParameters().size() > 5) {
                            events.add(SimpleConditionEvent.violated(constructor, constructor.getFullName()));
                        }
                    }
                })
                .because(
                        "more collaborators are more than one class; records are data and may have as many as they hold")
                .check(CLASSES);
    }
}

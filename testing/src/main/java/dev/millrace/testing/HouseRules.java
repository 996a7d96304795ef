package dev.millrace.testing;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.constructors;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaConstructor;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.GeneralCodingRules;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Rules that hold in every module. Its {@code ArchitectureTest} extends this, and adds what is the module's own. One
 * instance for all rules: reading the classes is what takes the time.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class HouseRules {

    private static final int MOST_PARAMETERS = 5;

    /** The classes of the module, without its tests. */
    protected final JavaClasses classes;

    /** The rules for what is in this package, and below it. */
    protected HouseRules(String modulePackage) {
        classes = new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests())
                .importPackages(modulePackage);
    }

    /** Whether this module writes to the terminal, as only what somebody calls there does. */
    protected boolean mayPrint() {
        return false;
    }

    @Test
    void shouldUseNamesThatSaySomething() {
        noClasses()
                .should()
                .haveNameMatching(".*(Manager|Helper|Util|Utils|Impl|Base|Abstract|Info|Data|DTO|Dto|Service)")
                .orShould()
                .resideInAnyPackage("..util..", "..common..", "..impl..", "..model..", "..helper..", "..service..")
                .because("such a name says nothing about what the class promises")
                .check(classes);
    }

    @Test
    void shouldCallLoggersLogger() {
        fields().that()
                .haveRawType("org.slf4j.Logger")
                .should()
                .haveName("LOGGER")
                .andShould()
                .bePrivate()
                .allowEmptyShould(true)
                .because("one name for one thing")
                .check(classes);
    }

    @Test
    void shouldNeverPrint() {
        if (!mayPrint()) {
            GeneralCodingRules.NO_CLASSES_SHOULD_ACCESS_STANDARD_STREAMS
                    .because("only the command line writes to the terminal")
                    .check(classes);
        }
    }

    @Test
    void shouldInjectThroughConstructors() {
        fields().should()
                .notBeAnnotatedWith("jakarta.inject.Inject")
                .allowEmptyShould(true)
                .because("an object is whole once it is made")
                .check(classes);
    }

    @Test
    void shouldHaveFewConstructorParameters() {
        constructors()
                .that()
                .areDeclaredInClassesThat()
                .areNotAssignableTo(Record.class)
                .and()
                .areDeclaredInClassesThat()
                .areNotAssignableTo(Enum.class)
                .and()
                .areDeclaredInClassesThat()
                .resideOutsideOfPackage("..config")
                .should(new ArchCondition<JavaConstructor>("have at most five parameters") {
                    @Override
                    public void check(JavaConstructor constructor, ConditionEvents events) {
                        if (constructor.getParameters().size() > MOST_PARAMETERS) {
                            events.add(SimpleConditionEvent.violated(constructor, constructor.getFullName()));
                        }
                    }
                })
                .because(
                        "more collaborators are more than one class; records are data and may have as many as they hold,"
                                + " and what puts a service together has to name its parts")
                .allowEmptyShould(true)
                .check(classes);
    }
}

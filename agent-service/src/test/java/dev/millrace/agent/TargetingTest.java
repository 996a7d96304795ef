package dev.millrace.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TargetingTest {

    @ParameterizedTest(name = "{0}: {2} says \"{3}\"")
    @CsvSource(delimiter = '|', textBlock = """
            in order, each once       | user,a,b,c | user | @b and @a, then @b again         | b,a
            no participant            | user,a,b   | user | @d is not here                   |
            never oneself             | user,a,b   | a    | I am @a, and @b goes on          | b
            a filter                  | user,a,b,z | a    | @z or @b                         | b
            the filter leaves nobody  | user,z     | a    | @z                               |
            people are no agents      | user,a,b   | a    | @user, what do you think?        |
            two: the other one        | user,a     | user | hello                            | a
            two: back to people       | user,a     | a    | hello                            |
            two agents                | a,b        | a    | hello                            | b
            two agents, from outside  | a,b        | user | hello                            | a
            one, from outside         | a          | user | hello                            | a
            one, who speaks           | a          | a    | hello                            |
            three: nobody             | user,a,b   | user | hello                            |
            three, from outside       | a,b,c      | user | hello                            |
            two, an unknown mention   | user,a     | user | hello @nobody                    | a
            an address is no mention  | user,a,b   | user | write to ada@a or x@b.org        |
            at the end of a sentence  | user,a,b   | user | over to you, @a. And (@b)!       | a,b
            a longer name             | user,a,a-b | user | @a-b                             | a-b
            nobody takes part         |            | user | @a                               |
            """)
    @DisplayName("F-300: mentions in order and once, filtered; else the other party of two; else nobody")
    void shouldSayWhoIsNext(String what, String participants, String speaker, String text, String expected) {
        // when
        List<String> targets = Targeting.of(text, speaker, list(participants), name -> !name.equals("z"));

        // then
        assertThat(targets).as(what).isEqualTo(list(expected));
    }

    private static List<String> list(@Nullable String names) {
        return names == null ? List.of() : List.of(names.split(","));
    }
}

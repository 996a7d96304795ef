package dev.millrace.tools.files;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.IntPredicate;

/**
 * A file name pattern as the JDK has them: {@code *} is any text within a name, {@code **} any text, {@code ?} one character,
 * {@code [a-z]} and {@code [!a-z]} one of some or none of some, {@code {a,b}} one or the other, {@code \\} takes the meaning
 * of what follows. A match costs at most the length of the text times that of the pattern, whatever they are; the JDK's own
 * matcher may take for ever. Immutable.
 */
final class Glob {

    private final List<Step> steps;

    /** What is done at a place of the pattern; the last place, behind all steps, is the match. */
    private sealed interface Step {
        /** One character. */
        record One(IntPredicate of) implements Step {}

        /** Any number of characters. */
        record Many(IntPredicate of) implements Step {}

        /** Goes on at each of these places. */
        record Fork(List<Integer> places) implements Step {}
    }

    private Glob(List<Step> steps) {
        this.steps = List.copyOf(steps);
    }

    /**
     * Reads a pattern.
     *
     * @throws IllegalArgumentException if it is none; the message says why
     */
    static Glob of(String pattern) {
        return new Glob(new Reader(pattern).read());
    }

    /** Whether the whole text fits; names in it are divided by {@code /}. */
    boolean matches(String text) {
        BitSet now = new BitSet(steps.size() + 1);
        enter(now, 0);
        for (int i = 0; i < text.length() && !now.isEmpty(); i += Character.charCount(text.codePointAt(i))) {
            int character = text.codePointAt(i);
            BitSet next = new BitSet(steps.size() + 1);
            now.stream().filter(place -> place < steps.size()).forEach(place -> {
                switch (steps.get(place)) {
                    case Step.One(IntPredicate of) when of.test(character) -> enter(next, place + 1);
                    case Step.Many(IntPredicate of) when of.test(character) -> enter(next, place);
                    case Step.One one -> {}
                    case Step.Many many -> {}
                    case Step.Fork fork -> {}
                }
            });
            now = next;
        }
        return now.get(steps.size());
    }

    private void enter(BitSet places, int place) {
        if (places.get(place)) {
            return;
        }
        places.set(place);
        if (place < steps.size()) {
            switch (steps.get(place)) {
                case Step.One one -> {}
                case Step.Many many -> enter(places, place + 1);
                case Step.Fork fork -> fork.places().forEach(next -> enter(places, next));
            }
        }
    }

    /** Makes steps of a pattern. */
    private static final class Reader {

        private static final int END = -1;
        private static final IntPredicate WITHIN_A_NAME = character -> character != '/';

        private final int[] pattern;
        private final List<Step> steps = new ArrayList<>();
        private int at;

        private Reader(String pattern) {
            this.pattern = pattern.codePoints().toArray();
        }

        private List<Step> read() {
            while (at < pattern.length) {
                if (pattern[at] == '{') {
                    at++;
                    group();
                } else {
                    step(pattern[at++]);
                }
            }
            return steps;
        }

        private int peek() {
            return at < pattern.length ? pattern[at] : END;
        }

        private void step(int character) {
            switch (character) {
                case '\\' -> {
                    if (peek() == END) {
                        throw new IllegalArgumentException("nothing after the last \\");
                    }
                    one(pattern[at++]);
                }
                case '[' -> steps.add(new Step.One(oneOfSome()));
                case '?' -> steps.add(new Step.One(WITHIN_A_NAME));
                case '*' -> {
                    if (peek() == '*') {
                        at++;
                        steps.add(new Step.Many(any -> true));
                    } else {
                        steps.add(new Step.Many(WITHIN_A_NAME));
                    }
                }
                default -> one(character);
            }
        }

        private void one(int character) {
            steps.add(new Step.One(found -> found == character));
        }

        /** What follows an opening brace: each alternative, and after it a way to the end of the group. */
        private void group() {
            int fork = steps.size();
            steps.add(new Step.Fork(List.of()));
            List<Integer> begins = new ArrayList<>(List.of(steps.size()));
            List<Integer> ends = new ArrayList<>();
            while (peek() != '}') {
                int character = peek();
                at++;
                switch (character) {
                    case END -> throw new IllegalArgumentException("a { without a }");
                    case '{' -> throw new IllegalArgumentException("a { within another one");
                    case ',' -> {
                        ends.add(steps.size());
                        steps.add(new Step.Fork(List.of()));
                        begins.add(steps.size());
                    }
                    default -> step(character);
                }
            }
            at++;
            steps.set(fork, new Step.Fork(List.copyOf(begins)));
            ends.forEach(end -> steps.set(end, new Step.Fork(List.of(steps.size()))));
        }

        /** What follows an opening bracket. */
        private IntPredicate oneOfSome() {
            boolean others = peek() == '!';
            if (others) {
                at++;
            }
            IntPredicate some = found -> false;
            int begun = at;
            int last = END;
            for (; peek() != ']'; at++) {
                int character = peek();
                if (character == END) {
                    throw new IllegalArgumentException("a [ without a ]");
                }
                if (character == '/') {
                    throw new IllegalArgumentException("a / within [ ]");
                }
                boolean range = character == '-' && at > begun && at + 1 < pattern.length && pattern[at + 1] != ']';
                if (!range) {
                    some = some.or(found -> found == character);
                    last = character == '-' ? END : character;
                    continue;
                }
                int from = last;
                int to = pattern[++at];
                if (from == END || to < from || to == '/') {
                    throw new IllegalArgumentException("a range without a beginning and an end");
                }
                some = some.or(found -> from <= found && found <= to);
                last = END;
            }
            if (at == begun) {
                throw new IllegalArgumentException("nothing within [ ]");
            }
            at++;
            return WITHIN_A_NAME.and(others ? some.negate() : some);
        }
    }
}

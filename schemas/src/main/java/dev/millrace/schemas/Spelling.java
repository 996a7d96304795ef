package dev.millrace.schemas;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** Which of the names that there are somebody may have meant. */
public final class Spelling {

    private static final int MAX_DISTANCE = 2;
    private static final int SHORTEST_COMPARED = 3;
    private static final int LONGEST_COMPARED = 64;
    /** What others wrote may have any number of names. */
    private static final int MOST_COMPARED = 1_000;

    private Spelling() {}

    /**
     * The nearest name: with nearly the same letters, or one holds the other, whatever their case and punctuation.
     *
     * @param known of these, the first thousand
     */
    public static Optional<String> nearest(String written, Collection<String> known) {
        String asked = bare(written);
        if (asked.length() < SHORTEST_COMPARED) {
            return Optional.empty();
        }
        return known.stream()
                .limit(MOST_COMPARED)
                .filter(name -> isAlike(bare(name), asked))
                .min(Comparator.comparingInt(name -> distance(bare(name), asked)));
    }

    private static boolean isAlike(String name, String asked) {
        return !name.isEmpty() && (distance(name, asked) <= MAX_DISTANCE || name.contains(asked) || holds(asked, name));
    }

    private static boolean holds(String asked, String name) {
        return name.length() >= SHORTEST_COMPARED && asked.contains(name);
    }

    /** How many letters have to be put in, taken out, changed or swapped with their neighbour. */
    private static int distance(String from, String to) {
        int[][] steps = new int[from.length() + 1][to.length() + 1];
        for (int i = 0; i <= from.length(); i++) {
            for (int j = 0; j <= to.length(); j++) {
                if (i == 0 || j == 0) {
                    steps[i][j] = i + j;
                    continue;
                }
                int change = from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1;
                steps[i][j] = Math.min(Math.min(steps[i - 1][j], steps[i][j - 1]) + 1, steps[i - 1][j - 1] + change);
                if (i > 1
                        && j > 1
                        && from.charAt(i - 1) == to.charAt(j - 2)
                        && from.charAt(i - 2) == to.charAt(j - 1)) {
                    steps[i][j] = Math.min(steps[i][j], steps[i - 2][j - 2] + 1);
                }
            }
        }
        return steps[from.length()][to.length()];
    }

    private static String bare(String name) {
        String start = name.length() <= LONGEST_COMPARED ? name : name.substring(0, LONGEST_COMPARED);
        return start.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", "");
    }
}

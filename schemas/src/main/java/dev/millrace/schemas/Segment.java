package dev.millrace.schemas;

import java.util.List;

/**
 * The priority segments of the type codes, highest priority first. Each segment has one lane, a topic of its own,
 * so that a system event need not stand in line behind messages. {@link #ordinal()} is the rank: 0 goes first.
 */
public enum Segment {
    /** Codes 0–99: start, stop, heartbeat, cancel. */
    SYSTEM(0, "system"),
    /** Codes 100–199: what people and other systems send. Types that the catalogue does not know are here too. */
    EXTERNAL(100, "external"),
    /** Codes 200–299: what happens to a task. */
    TASK(200, "task"),
    /** Codes 300–399: what language models answer. */
    COGNITIVE(300, "cognitive"),
    /** Codes 400–499: what tools answer. */
    TOOL(400, "tool"),
    /** Codes 500 and up: work that may wait. */
    BACKGROUND(500, "background");

    private static final List<Segment> VALUES = List.of(values());

    private final int firstCode;
    private final String laneSuffix;

    Segment(int firstCode, String laneSuffix) {
        this.firstCode = firstCode;
        this.laneSuffix = laneSuffix;
    }

    /** The lowest code of this segment; the segment ends before the next one's first code. */
    public int firstCode() {
        return firstCode;
    }

    /** The last part of the lane's topic name, such as {@code external} in {@code events.external}. */
    public String laneSuffix() {
        return laneSuffix;
    }

    /**
     * The segment that an effective priority falls into. Anything below 0 counts as 0; anything above 500 is
     * background.
     */
    public static Segment ofCode(int code) {
        Segment found = SYSTEM;
        for (Segment segment : VALUES) {
            if (code >= segment.firstCode) {
                found = segment;
            }
        }
        return found;
    }
}

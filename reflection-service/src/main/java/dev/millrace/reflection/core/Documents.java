package dev.millrace.reflection.core;

import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/** The documents of one namespace as they are now. */
public interface Documents {

    /** The content of one; {@code null} = there is none. */
    @Nullable
    String content(MemoryPath path);

    /** All of them, by path. */
    SortedMap<MemoryPath, String> all();
}

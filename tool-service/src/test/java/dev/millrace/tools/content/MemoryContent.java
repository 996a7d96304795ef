package dev.millrace.tools.content;

import dev.millrace.tool.api.ToolException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Keeps contents in memory, for tests. */
public final class MemoryContent implements ContentStore {

    private record Kept(Owner owner, String contentType, Slice whole) {}

    private final List<Kept> kept = new CopyOnWriteArrayList<>();

    @Override
    public String put(Owner owner, String callId, byte[] content, String contentType) {
        kept.add(new Kept(owner, contentType, new Slice(content.clone(), content.length, contentType)));
        return "content-" + (kept.size() - 1);
    }

    @Override
    public Slice read(Owner reader, String reference, long offset, int length) throws ToolException {
        Kept found = kept.get(Integer.parseInt(reference.substring("content-".length())));
        if (!reader.mayRead(found.owner())) {
            throw new ToolException("unknown_reference", "unknown");
        }
        byte[] bytes = found.whole().bytes();
        int from = (int) Math.min(offset, bytes.length);
        int to = (int) Math.min(bytes.length, offset + length);
        return new Slice(Arrays.copyOfRange(bytes, from, Math.max(from, to)), bytes.length, found.contentType());
    }
}

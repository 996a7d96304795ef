package dev.millrace.schemas;

/**
 * The headers of records that are Millrace's own; those of CloudEvents are beside them, see {@link EventCodec}, and
 * those of dead letters in {@link DeadLetters}. All values are UTF-8, numbers are decimal digits.
 */
public final class HeaderNames {

    /** In the journal, of an event that was not processed: what became of it, as a word such as {@code expired}. */
    public static final String OUTCOME = "millrace-outcome";

    /** The word in {@link #OUTCOME} of an event in whose place a processor has put others. */
    public static final String OVERWRITTEN = "overwritten";

    /**
     * In the journal, of events that others have sent: when they came onto their lane, in Unix milliseconds. Whatever a
     * date decides is decided by this one, and not by what the event says of its time. Absent = the event is the
     * machine's.
     */
    public static final String RECEIVED = "millrace-received";

    /** In memory: id of the call or edit that a record comes from; also of one without a value. */
    public static final String CHANGE = "millrace-change";
    /** In memory: the version that the document has from this record on. */
    public static final String VERSION = "millrace-version";
    /**
     * In memory, of a record that answers a MEMORY_EDIT_REQUESTED: the request's id. The record has the document as it
     * is after it; {@link #OUTCOME} has the number of the version that the edit has made, or why it was refused, see
     * {@link MemoryDocument.Refusal}.
     */
    public static final String ANSWER = "millrace-answer";

    /**
     * On lanes of replies, of a record without a value: everything before it was there before a model call is made
     * again.
     */
    public static final String FENCE = "millrace-fence";

    /**
     * On lanes of replies, of a reply that the machine has been handed in its process as well: the key of the call. Who
     * takes one of the two passes over the other.
     */
    public static final String HANDED = "millrace-handed";

    /** On the topic of contents: whether a record is a piece or the index of pieces. */
    public static final String CONTENT = "millrace-content";

    private HeaderNames() {}
}

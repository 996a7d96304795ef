package dev.millrace.tools.files;

/**
 * A text that a regular expression stops reading when the thread is interrupted: a large one on a long line takes a
 * while.
 */
record InterruptibleText(CharSequence text) implements CharSequence {

    /** The thread was interrupted. */
    static final class InterruptedSearchException extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    @Override
    public char charAt(int index) {
        if (Thread.currentThread().isInterrupted()) {
            throw new InterruptedSearchException();
        }
        return text.charAt(index);
    }

    @Override
    public int length() {
        return text.length();
    }

    @Override
    public CharSequence subSequence(int start, int end) {
        return new InterruptibleText(text.subSequence(start, end));
    }

    @Override
    public String toString() {
        return text.toString();
    }
}

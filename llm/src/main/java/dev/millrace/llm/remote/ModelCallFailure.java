package dev.millrace.llm.remote;

import dev.millrace.llm.ModelCallException;

/** Carries our exception through LangChain4j, which knows unchecked ones only. */
final class ModelCallFailure extends RuntimeException {

    private final ModelCallException failure;

    ModelCallFailure(ModelCallException failure) {
        super(failure);
        this.failure = failure;
    }

    ModelCallException failure() {
        return failure;
    }
}

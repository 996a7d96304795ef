package dev.millrace.testing;

import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** What is behind {@link RequiresBroker}. */
public final class BrokerExtension implements ExecutionCondition, ParameterResolver {

    private static final AtomicBoolean SAID = new AtomicBoolean();

    /** For JUnit. */
    public BrokerExtension() {}

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        return TestBroker.whyNot()
                .map(reason -> {
                    if (SAID.compareAndSet(false, true)) {
                        System.err.println("SKIPPED, for want of a broker: " + context.getDisplayName()
                                + " and every other test that needs one. " + reason);
                    }
                    return ConditionEvaluationResult.disabled(reason);
                })
                .orElseGet(() -> ConditionEvaluationResult.enabled("a broker can be had"));
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == TestBroker.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return TestBroker.shared();
    }
}

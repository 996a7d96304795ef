package dev.millrace.agent.files;

import dev.millrace.agent.DefinitionTaker;
import dev.millrace.agent.rules.Rules;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.MalformedEventException;
import org.jspecify.annotations.Nullable;

/** Rules as the definitions topic has them: {@code rule/<id>} is what would stand under the id in a file. */
public final class RuleRecords implements DefinitionTaker {

    /** The kind in the keys. */
    public static final String KIND = "rule";

    private final Rules rules;

    /** Keeps these up to date. */
    public RuleRecords(Rules rules) {
        this.rules = rules;
    }

    @Override
    public void take(String id, byte @Nullable [] value) throws MalformedEventException {
        if (value == null) {
            rules.withdraw(id);
            return;
        }
        try {
            rules.define(RuleFile.read(id, Json.readObject(value)));
        } catch (InvalidAgentException e) {
            throw new MalformedEventException("bad_definition", String.valueOf(e.getMessage()));
        }
    }

    @Override
    public void beginAnew() {
        rules.withdrawAll();
    }
}

package dev.millrace.bench;

import dev.millrace.testing.HouseRules;

class ArchitectureTest extends HouseRules {

    ArchitectureTest() {
        super("dev.millrace.bench");
    }

    @Override
    protected boolean mayPrint() {
        return true;
    }
}

package dev.millrace.testkit;

import dev.millrace.testing.HouseRules;

class ArchitectureTest extends HouseRules {

    ArchitectureTest() {
        super("dev.millrace.testkit");
    }
}

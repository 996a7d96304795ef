package dev.millrace.telemetry;

import dev.millrace.testing.HouseRules;

class ArchitectureTest extends HouseRules {

    ArchitectureTest() {
        super("dev.millrace.telemetry");
    }
}

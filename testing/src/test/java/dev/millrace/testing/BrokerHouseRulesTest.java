package dev.millrace.testing;

/** For {@code broker}, on which {@link HouseRules} depends, so that it cannot be tested there. */
class BrokerHouseRulesTest extends HouseRules {

    BrokerHouseRulesTest() {
        super("dev.millrace.broker");
    }
}

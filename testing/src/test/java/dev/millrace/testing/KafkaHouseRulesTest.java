package dev.millrace.testing;

/** For {@code kafka}, on which {@link HouseRules} depends, so that it cannot be tested there. */
class KafkaHouseRulesTest extends HouseRules {

    KafkaHouseRulesTest() {
        super("dev.millrace.kafka");
    }
}

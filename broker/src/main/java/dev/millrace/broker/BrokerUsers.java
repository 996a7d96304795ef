package dev.millrace.broker;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Who may connect to a broker, by SASL PLAIN over its loopback address. What they may do there is said by the access
 * lists of the brokers; without a line nobody may do anything.
 *
 * @param passwords by name of the user; letters, digits, {@code -} and {@code _}
 * @param administrators those of them who may do everything, at least one
 */
public record BrokerUsers(Map<String, String> passwords, Set<String> administrators) {

    private static final String MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule required ";
    private static final String WORD = "[A-Za-z0-9_-]+";

    public BrokerUsers {
        passwords = Map.copyOf(passwords);
        administrators = Set.copyOf(administrators);
        if (administrators.isEmpty() || !passwords.keySet().containsAll(administrators)) {
            throw new IllegalArgumentException(
                    "administrators: expected at least one, and users with a password, found " + administrators);
        }
        if (Stream.concat(passwords.keySet().stream(), passwords.values().stream())
                .anyMatch(word -> !word.matches(WORD))) {
            throw new IllegalArgumentException("users: expected names and passwords of letters, digits, - and _");
        }
    }

    /** How a client connects as this user. */
    public Map<String, String> client(String user) {
        return Map.of(
                "security.protocol",
                "SASL_PLAINTEXT",
                "sasl.mechanism",
                "PLAIN",
                "sasl.jaas.config",
                login(user) + ';');
    }

    /** Settings of the broker, which asks on both of its listeners, so that none of them is a way around the other. */
    public Map<String, String> broker() {
        Map<String, String> settings = new HashMap<>();
        String itself = administrators.iterator().next();
        String known = new TreeMap<>(passwords)
                .entrySet().stream()
                        .map(user -> " user_" + user.getKey() + "=\"" + user.getValue() + '"')
                        .collect(Collectors.joining());
        for (String listener : List.of(BrokerSettings.BROKER_LISTENER, DataFolder.CONTROLLER_LISTENER)) {
            settings.put(
                    "listener.name." + listener.toLowerCase(Locale.ROOT) + ".plain.sasl.jaas.config",
                    login(itself) + known + ';');
        }
        settings.put(
                BrokerSettings.PROTOCOLS,
                BrokerSettings.BROKER_LISTENER + ":SASL_PLAINTEXT," + DataFolder.CONTROLLER_LISTENER
                        + ":SASL_PLAINTEXT");
        settings.put("sasl.enabled.mechanisms", "PLAIN");
        settings.put("sasl.mechanism.inter.broker.protocol", "PLAIN");
        settings.put("sasl.mechanism.controller.protocol", "PLAIN");
        settings.put("authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer");
        settings.put(
                "super.users",
                administrators.stream().map(user -> "User:" + user).collect(Collectors.joining(";")));
        return settings;
    }

    private String login(String user) {
        String password = passwords.get(user);
        if (password == null) {
            throw new IllegalArgumentException("expected one of the users, found " + user);
        }
        return MODULE + "username=\"" + user + "\" password=\"" + password + '"';
    }

    /** Without passwords, since this stands in logs. */
    @Override
    public String toString() {
        return "BrokerUsers" + new TreeMap<>(passwords).keySet();
    }
}

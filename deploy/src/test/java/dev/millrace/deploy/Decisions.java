package dev.millrace.deploy;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.metadata.authorizer.StandardAuthorizer;
import org.apache.kafka.server.authorizer.Action;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.authorizer.AuthorizationResult;

/** Kafka's own authorizer, which a broker of this JVM makes by the name of the class; keeps what it was asked. */
public final class Decisions extends StandardAuthorizer {

    private static final Set<Decision> ALL = ConcurrentHashMap.newKeySet();

    /**
     * What a user wanted, and whether it was let. What was asked only to tell it what there is, is no decision.
     *
     * @param principal such as {@code User:millrace-agent}
     * @param resource by its whole name
     */
    record Decision(String principal, AclOperation operation, ResourcePattern resource, boolean allowed) {

        /** Whether it would be let by this line alone. */
        boolean isCoveredBy(AclBinding line) {
            return line.entry().principal().equals(principal)
                    && line.pattern().resourceType() == resource.resourceType()
                    && isNamedBy(line.pattern())
                    && implied(line.entry().operation()).contains(operation);
        }

        private boolean isNamedBy(ResourcePattern pattern) {
            return switch (pattern.patternType()) {
                case LITERAL -> pattern.name().equals(resource.name());
                case PREFIXED -> resource.name().startsWith(pattern.name());
                default -> throw new IllegalArgumentException("expected literal or prefixed, found " + pattern);
            };
        }

        private static Set<AclOperation> implied(AclOperation operation) {
            return switch (operation) {
                case READ, WRITE -> Set.of(operation, AclOperation.DESCRIBE);
                case ALTER_CONFIGS -> Set.of(operation, AclOperation.DESCRIBE_CONFIGS);
                default -> Set.of(operation);
            };
        }
    }

    /** All since the last {@link #forget}. */
    static Set<Decision> all() {
        return Set.copyOf(ALL);
    }

    /** What somebody was not let, for people. */
    static Set<String> refused() {
        return ALL.stream()
                .filter(decision -> !decision.allowed())
                .map(decision -> decision.principal()
                        + ' '
                        + decision.operation()
                        + ' '
                        + decision.resource().resourceType()
                        + ' '
                        + decision.resource().name())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    static void forget() {
        ALL.clear();
    }

    @Override
    public List<AuthorizationResult> authorize(AuthorizableRequestContext context, List<Action> actions) {
        List<AuthorizationResult> results = super.authorize(context, actions);
        IntStream.range(0, actions.size()).forEach(i -> {
            Action action = actions.get(i);
            boolean allowed = results.get(i) == AuthorizationResult.ALLOWED;
            if (allowed ? action.logIfAllowed() : action.logIfDenied()) {
                ALL.add(new Decision(
                        context.principal().toString(), action.operation(), action.resourcePattern(), allowed));
            }
        });
        return results;
    }
}

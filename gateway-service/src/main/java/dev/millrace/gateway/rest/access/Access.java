package dev.millrace.gateway.rest.access;

import dev.millrace.gateway.access.Identity;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Problem;
import jakarta.enterprise.context.RequestScoped;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Who makes this request, and what they may do. Without a login everybody may do everything. */
@RequestScoped
public class Access {

    /**
     * The extension of an event that says who sent it, by the CloudEvents extension of that name; of those who have
     * logged in only.
     */
    public static final String PRINCIPAL = "authid";

    /** What this gateway alone says of who sent an event; written without what separates words. */
    private static final Set<String> OURS = Set.of(PRINCIPAL, "authtype", "authclaims", "principal");

    private boolean settled;
    private @Nullable Identity identity;
    private @Nullable Permission needed;
    private @Nullable String place;
    private BooleanSupplier standing = () -> true;
    private BiConsumer<String, Permission> permitted = (namespace, permission) -> {};
    private final Set<String> told = new HashSet<>();
    private final Set<Refusal> refusals = new LinkedHashSet<>();

    /**
     * Something that the request asked for and that was not granted.
     *
     * @param code why, one of docs/permissions.md
     */
    record Refusal(String namespace, Permission permission, String code) {}

    /**
     * Who it is.
     *
     * @param caller {@code null} = nobody had to log in
     * @param permission that the route needs; {@code null} = none
     */
    void settle(@Nullable Identity caller, @Nullable Permission permission) {
        settle(caller, permission, () -> true);
    }

    /**
     * The same of somebody whose login may end.
     *
     * @param stillIn whether they would be let in again now; for any thread, also after the request
     */
    void settle(@Nullable Identity caller, @Nullable Permission permission, BooleanSupplier stillIn) {
        settled = true;
        identity = caller;
        needed = permission;
        standing = stillIn;
    }

    /** Who is to hear, before anything is done, what is permitted where: of each once. */
    void tell(BiConsumer<String, Permission> listener) {
        permitted = listener;
    }

    /**
     * Tells whether whoever makes this request would be let in again, for as long as that matters: for any thread, also
     * after the request.
     */
    public BooleanSupplier standing() {
        return standing;
    }

    /** Who makes the request; {@code null} = nobody had to say. */
    public @Nullable String principal() {
        Identity caller = caller();
        return caller == null ? null : caller.principal();
    }

    /**
     * The namespace that a request is for.
     *
     * @param given {@code null} = it does not say: the caller's own
     * @throws ProblemException if what the route needs is not granted there
     */
    public String namespace(@Nullable String given) {
        String namespace = given != null ? given : home();
        if (needed != null) {
            require(namespace, needed);
        }
        return namespace;
    }

    /** The namespace in which something was permitted last; {@code null} = the request has named none so far. */
    public @Nullable String place() {
        return place;
    }

    /** The namespace of what names none, see {@link Identity#home}. */
    public String home() {
        Identity caller = caller();
        return caller == null ? Event.DEFAULT_NAMESPACE : caller.home();
    }

    /** Returns if this is granted there. */
    public void require(String namespace, Permission permission) {
        Identity caller = caller();
        if (caller != null && !caller.may(namespace, permission)) {
            ProblemException refused = notPermitted(caller, namespace, permission);
            refusals.add(new Refusal(namespace, permission, refused.problem().code()));
            throw refused;
        }
        place = namespace;
        if (told.add(namespace + ':' + permission.word())) {
            permitted.accept(namespace, permission);
        }
    }

    /** What was refused that the request asked for, in this order, each once. */
    List<Refusal> refusals() {
        return List.copyOf(refusals);
    }

    /** Returns if this is granted in all namespaces. */
    public void requireEverywhere(Permission permission) {
        require("*", permission);
    }

    /** The namespaces in which whoever makes this request may do anything at all; {@code null} = all. */
    public @Nullable Set<String> namespaces() {
        Identity caller = caller();
        return caller == null ? null : caller.namespaces();
    }

    /**
     * As a question about agents or tools says for whom the answer is, so that what is reserved for others is not in
     * it.
     */
    public Map<String, @Nullable String> whose() {
        Set<String> namespaces = namespaces();
        return Collections.singletonMap("namespaces", namespaces == null ? null : String.join("/", namespaces));
    }

    /** Whether this is granted there. */
    public boolean may(String namespace, Permission permission) {
        Identity caller = caller();
        return caller == null || caller.may(namespace, permission);
    }

    /** The event with who sends it, and without what the sender says of that. */
    public Event stamped(Event event) {
        Event stamped = event;
        for (String name : event.extensions().keySet()) {
            if (OURS.contains(name.replaceAll("[_.-]", "").toLowerCase(Locale.ROOT))) {
                stamped = stamped.with(name, null);
            }
        }
        String principal = principal();
        return principal == null ? stamped : stamped.with(PRINCIPAL, principal);
    }

    private @Nullable Identity caller() {
        if (!settled) {
            throw new IllegalStateException("nobody has asked who makes this request");
        }
        return identity;
    }

    static ProblemException notPermitted(Identity caller, String namespace, Permission permission) {
        String grant = namespace + ':' + permission.word();
        return new ProblemException(new Problem(
                403,
                "not_permitted",
                "Not permitted",
                caller.principal() + " is not granted " + grant + ", which this needs.",
                Map.of("needs", grant)));
    }
}

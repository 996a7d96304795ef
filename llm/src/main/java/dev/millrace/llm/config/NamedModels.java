package dev.millrace.llm.config;

import dev.millrace.llm.LanguageModel;
import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelCharge;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ModelRequest;
import dev.millrace.llm.StreamListener;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Several models side by side. A request names one of them, or none and gets the default. A name that is none of theirs
 * is taken for one of the default model's provider, except for the usual sizes: an agent that asks for {@code fast}
 * where nobody configured it gets the default too.
 */
final class NamedModels implements LanguageModel {

    /** Names by which agents ask for a size, wherever they run. */
    private static final Set<String> SIZES = Set.of("fast", "balanced", "powerful");

    private final Map<String, Named> models;
    private final String defaultName;

    /**
     * One of them.
     *
     * @param price null = unknown
     * @param fallback the name of another one; null = none
     * @param key what the key is called that it is asked with; null = it needs none
     * @param contextWindow tokens that it takes; null = what it says itself
     */
    record Named(
            LanguageModel model,
            @Nullable Price price,
            @Nullable String fallback,
            @Nullable String key,
            @Nullable Integer contextWindow) {}

    /** Models by name, the default among them. */
    NamedModels(Map<String, Named> models, String defaultName) {
        this.models = new TreeMap<>(models);
        this.defaultName = defaultName;
    }

    @Override
    public ModelReply chat(ModelRequest request) throws ModelCallException {
        Named named = named(request.model());
        try {
            return priced(named, named.model().chat(addressed(request)));
        } catch (ModelCallException e) {
            throw priced(named, e);
        }
    }

    @Override
    public ModelReply stream(ModelRequest request, StreamListener listener) throws ModelCallException {
        Named named = named(request.model());
        try {
            return priced(named, named.model().stream(addressed(request), listener));
        } catch (ModelCallException e) {
            throw priced(named, e);
        }
    }

    @Override
    public String name() {
        return named(null).model().name();
    }

    @Override
    public String description() {
        if (models.size() == 1) {
            return named(null).model().description();
        }
        return models.entrySet().stream()
                .map(entry -> entry.getKey()
                        + (entry.getKey().equals(defaultName) ? " (the default): " : ": ")
                        + entry.getValue().model().description())
                .collect(Collectors.joining("; "));
    }

    @Override
    public @Nullable String fallbackFor(@Nullable String model) {
        return named(model).fallback();
    }

    @Override
    public String providerOf(@Nullable String model) {
        return named(model).model().providerOf(null);
    }

    @Override
    public @Nullable String keyFor(@Nullable String model) {
        return named(model).key();
    }

    @Override
    public int contextWindow(@Nullable String model) {
        Named named = named(model);
        return named.contextWindow() == null ? named.model().contextWindow(unlessOurs(model)) : named.contextWindow();
    }

    private Named named(@Nullable String name) {
        Named named = name == null ? null : models.get(name);
        return named == null ? Objects.requireNonNull(models.get(defaultName), "the default model") : named;
    }

    /** The request as the model itself understands it: without our name for it. */
    private ModelRequest addressed(ModelRequest request) {
        String name = request.model();
        return name != null && unlessOurs(name) == null ? request.to(null) : request;
    }

    /** A provider's own name for a model; null if it is our name. */
    private @Nullable String unlessOurs(@Nullable String name) {
        return name != null && (models.containsKey(name) || SIZES.contains(name)) ? null : name;
    }

    private static ModelReply priced(Named named, ModelReply reply) {
        Price price = named.price();
        return price == null ? reply : reply.using(reply.usage().costing(price.micros(reply.usage())));
    }

    private static ModelCallException priced(Named named, ModelCallException failure) {
        Price price = named.price();
        ModelCharge charge = failure.charge();
        return price == null || charge == null
                ? failure
                : failure.charged(
                        new ModelCharge(charge.model(), charge.usage().costing(price.micros(charge.usage()))));
    }
}

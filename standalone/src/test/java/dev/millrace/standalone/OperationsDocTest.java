package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.config.AgentConfig;
import dev.millrace.agent.config.ProjectionConfig;
import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.http.HttpConfig;
import dev.millrace.kafka.config.TopicsConfig;
import dev.millrace.llm.config.LlmConfig;
import dev.millrace.reflection.config.ReflectionConfig;
import dev.millrace.telemetry.config.RedactionConfig;
import dev.millrace.telemetry.config.TelemetryConfig;
import dev.millrace.tools.config.ToolsConfig;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import io.smallrye.config.WithName;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class OperationsDocTest {

    private static final Path DOCUMENT = Path.of("..", "docs", "operations.md");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `(millrace\\.[a-z.<>-]+)` \\| (?:`([^`]*)`)? ?\\|");

    @Test
    @DisplayName("docs/operations.md lists every key with its default, and no other")
    void shouldListEveryKey() throws IOException {
        Map<String, String> configured = keys();
        Map<String, String> documented = new TreeMap<>();
        Matcher rows = ROW.matcher(Files.readString(DOCUMENT));
        while (rows.find()) {
            documented.put(rows.group(1), rows.group(2) == null ? "" : rows.group(2));
        }

        assertThat(documented).isEqualTo(configured);
    }

    /** Every key that there is, with its default. */
    static Map<String, String> keys() {
        Map<String, String> configured = new TreeMap<>();
        for (Class<?> config : new Class<?>[] {
            TopicsConfig.class,
            HttpConfig.class,
            AgentConfig.class,
            LlmConfig.class,
            ProjectionConfig.class,
            ToolsConfig.class,
            ReflectionConfig.class,
            GatewayConfig.class,
            TelemetryConfig.class,
            RedactionConfig.class
        }) {
            collect(config, config.getAnnotation(ConfigMapping.class).prefix(), configured);
        }
        return configured;
    }

    private static void collect(Class<?> config, String prefix, Map<String, String> keys) {
        Arrays.stream(config.getMethods())
                .filter(method -> !method.isDefault())
                .forEach(method -> collect(method, prefix, keys));
    }

    private static void collect(Method method, String prefix, Map<String, String> keys) {
        WithName name = method.getAnnotation(WithName.class);
        String key = prefix + '.' + (name == null ? kebab(method.getName()) : name.value());
        if (method.getGenericReturnType() instanceof ParameterizedType type
                && type.getActualTypeArguments()[type.getActualTypeArguments().length - 1] instanceof Class<?> part
                && isOurs(part)) {
            collect(part, method.getReturnType() == Map.class ? key + ".<name>" : key, keys);
            return;
        }
        if (isOurs(method.getReturnType())) {
            collect(method.getReturnType(), key, keys);
            return;
        }
        if (method.getGenericReturnType() instanceof ParameterizedType map
                && map.getRawType() == Map.class
                && map.getActualTypeArguments()[1] instanceof Class<?> each
                && each.isInterface()) {
            collect(each, key + ".<name>", keys);
            return;
        }
        if (method.getReturnType() == Map.class) {
            key += ".<name>";
        }
        WithDefault value = method.getAnnotation(WithDefault.class);
        keys.put(key, value == null ? "" : value.value());
    }

    private static boolean isOurs(Class<?> type) {
        return type.isInterface() && type.getPackageName().startsWith("dev.millrace");
    }

    private static String kebab(String name) {
        return name.replaceAll("([a-z0-9])([A-Z])", "$1-$2").toLowerCase(Locale.ROOT);
    }
}

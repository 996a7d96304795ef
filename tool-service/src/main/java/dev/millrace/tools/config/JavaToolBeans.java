package dev.millrace.tools.config;

import dev.millrace.tool.api.EventProcessor;
import dev.millrace.tools.CallableTool;
import dev.millrace.tools.java.JavaTools;
import dev.millrace.tools.java.ProcessorTool;
import dev.millrace.tools.java.ToolJars;
import io.quarkus.arc.InjectableBean;
import jakarta.enterprise.inject.Any;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.ArrayList;
import java.util.List;

/**
 * The Java methods that are tools, and the processors of events: those of the beans in this application, and those of
 * jars that are named to it.
 */
@Singleton
public class JavaToolBeans {

    private final List<CallableTool> tools = new ArrayList<>();

    /**
     * Finds them.
     *
     * @param beans all beans; that somebody asks for all keeps those that nobody else asks for
     */
    @Inject
    JavaToolBeans(@Any Instance<Object> beans, ToolsConfig config) {
        for (Instance.Handle<Object> handle : beans.handles()) {
            if (handle.getBean() instanceof InjectableBean<?> bean
                    && bean.getKind() == InjectableBean.Kind.CLASS
                    && JavaTools.has(bean.getBeanClass())) {
                tools.addAll(JavaTools.of(bean.getBeanClass(), handle::get));
            }
            if (handle.getBean() instanceof InjectableBean<?> bean
                    && bean.getKind() == InjectableBean.Kind.CLASS
                    && EventProcessor.class.isAssignableFrom(bean.getBeanClass())) {
                tools.add(new ProcessorTool((EventProcessor) handle.get()));
            }
        }
        tools.addAll(new ToolJars(config.java().jars().orElse(List.of())).tools());
    }

    /** All of them. */
    List<CallableTool> tools() {
        return List.copyOf(tools);
    }
}

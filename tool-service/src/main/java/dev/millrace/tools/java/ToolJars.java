package dev.millrace.tools.java;

import dev.millrace.tool.api.EventProcessor;
import dev.millrace.tools.CallableTool;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Modifier;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tools of jars that are only known when the service starts, so that no container has looked into them: of every class
 * with a method for a tool, or that is a processor, and a public constructor without parameters, one object is made.
 * All jars share one class loader, which sees this service's classes.
 */
public final class ToolJars implements AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(JavaTools.class);
    private static final String CLASS = ".class";
    private static final int SHOWN = 3;

    private final URLClassLoader loader;
    private final List<CallableTool> tools = new ArrayList<>();

    /**
     * Loads jars, and of a folder all that are in it.
     *
     * @throws IllegalArgumentException if one cannot be read, or a tool of it is none
     */
    public ToolJars(List<Path> places) {
        List<Path> jars = places.stream().flatMap(ToolJars::jars).toList();
        loader = new URLClassLoader(
                jars.stream().map(ToolJars::url).toArray(URL[]::new), getClass().getClassLoader());
        for (Path jar : jars) {
            int before = tools.size();
            Set<String> unusable = new TreeSet<>();
            classes(jar).forEach(name -> load(name, unusable));
            // a folder may hold what the tools need
            if (tools.size() == before && places.contains(jar)) {
                LOGGER.atWarn()
                        .addKeyValue("jar", jar)
                        .addKeyValue("unusable", unusable.stream().limit(SHOWN).collect(Collectors.joining("; ")))
                        .log("A jar of tools has none: expected a public class with a method that has"
                                + " @Tool, or one that is an EventProcessor");
            }
        }
    }

    /** The tools of all jars. */
    public List<CallableTool> tools() {
        return List.copyOf(tools);
    }

    private void load(String className, Set<String> unusable) {
        try {
            Class<?> type = Class.forName(className, false, loader);
            boolean processor = EventProcessor.class.isAssignableFrom(type);
            if (!(processor || JavaTools.has(type)) || type.isInterface() || Modifier.isAbstract(type.getModifiers())) {
                return;
            }
            Constructor<?> constructor = type.getConstructor();
            Object instance = constructor.newInstance();
            tools.addAll(JavaTools.of(type, () -> instance));
            if (instance instanceof EventProcessor events) {
                tools.add(new ProcessorTool(events));
            }
        } catch (ClassNotFoundException | LinkageError e) {
            // a jar may have classes for libraries that are not here
            unusable.add(className + ": " + e);
            LOGGER.atDebug().addKeyValue("class", className).setCause(e).log("A class of a tool jar cannot be loaded");
        } catch (NoSuchMethodException e) {
            throw new IllegalArgumentException(
                    "millrace.tools.java.jars: expected a public constructor without parameters in " + className, e);
        } catch (InvocationTargetException e) {
            throw new IllegalArgumentException(
                    "millrace.tools.java.jars: the constructor of " + className + " failed: " + e.getCause(), e);
        } catch (InstantiationException | IllegalAccessException e) {
            throw new IllegalArgumentException(
                    "millrace.tools.java.jars: expected a public class, found " + className, e);
        }
    }

    private static Stream<Path> jars(Path place) {
        if (!Files.isDirectory(place)) {
            return Stream.of(place);
        }
        try (Stream<Path> entries = Files.list(place)) {
            return entries.filter(entry -> entry.toString().endsWith(".jar")).sorted().toList().stream();
        } catch (IOException e) {
            throw new IllegalArgumentException("millrace.tools.java.jars: cannot read " + place + ": " + e, e);
        }
    }

    private static List<String> classes(Path jar) {
        try (JarFile opened = new JarFile(jar.toFile())) {
            return opened.stream()
                    .map(entry -> entry.getName())
                    .filter(name ->
                            name.endsWith(CLASS) && !name.startsWith("META-INF/") && !name.endsWith("-info.class"))
                    .map(name ->
                            name.substring(0, name.length() - CLASS.length()).replace('/', '.'))
                    .toList();
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    "millrace.tools.java.jars: expected a jar or a folder with jars, found " + jar + ": " + e, e);
        }
    }

    private static URL url(Path jar) {
        try {
            return jar.toUri().toURL();
        } catch (MalformedURLException e) {
            throw new IllegalArgumentException("millrace.tools.java.jars: " + jar, e);
        }
    }

    @Override
    public void close() {
        try {
            loader.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

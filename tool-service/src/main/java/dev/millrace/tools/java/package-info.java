/**
 * Java methods as tools: {@link dev.millrace.tools.java.JavaTools} finds those that say so, in the words of {@code
 * dev.millrace.tool.api} or of LangChain4j ({@code JavaDeclaration}), {@code JavaSchemas} derives their schemas, {@code
 * JavaTool} calls them. Which objects they are asked of is the container's business, or that of {@link
 * dev.millrace.tools.java.ToolJars}.
 */
@NullMarked
package dev.millrace.tools.java;

import org.jspecify.annotations.NullMarked;

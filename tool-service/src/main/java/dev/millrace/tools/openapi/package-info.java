/**
 * Tools of HTTP APIs: {@link dev.millrace.tools.openapi.OpenApiDocument} reads a document, and each operation becomes
 * an {@link dev.millrace.tools.openapi.OpenApiTool}. Only the host that the operator or the document names is asked.
 */
@NullMarked
package dev.millrace.tools.openapi;

import org.jspecify.annotations.NullMarked;

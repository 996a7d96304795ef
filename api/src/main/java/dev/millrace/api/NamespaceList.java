package dev.millrace.api;

import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** Tenants in which there is something. */
@Schema(name = "Namespaces")
public record NamespaceList(
        @Schema(description = "By name.", examples = "[\"acme\", \"default\"]")
        List<String> namespaces,

        @Schema(description = "The cursor of the next page; null = this is the last one.") @Nullable
        String next) {}

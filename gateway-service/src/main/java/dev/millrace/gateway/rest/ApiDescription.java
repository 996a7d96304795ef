package dev.millrace.gateway.rest;

import dev.millrace.schemas.Problem;
import io.quarkus.smallrye.openapi.OpenApiFilter;
import org.eclipse.microprofile.openapi.OASFactory;
import org.eclipse.microprofile.openapi.OASFilter;
import org.eclipse.microprofile.openapi.models.OpenAPI;
import org.eclipse.microprofile.openapi.models.Operation;
import org.eclipse.microprofile.openapi.models.media.Schema;

/** Completes the OpenAPI document: every error is a problem, and what is internal is not shown. */
@OpenApiFilter(stages = OpenApiFilter.RunStage.BUILD)
public class ApiDescription implements OASFilter {
    private static final String PROBLEM = "Problem";

    @Override
    public void filterOpenAPI(OpenAPI openApi) {
        openApi.getPaths().getPathItems().keySet().stream()
                .filter(path -> path.startsWith("/internal"))
                .toList()
                .forEach(openApi.getPaths()::removePathItem);
        openApi.getComponents().addSchema(PROBLEM, problem());
        openApi.getPaths().getPathItems().entrySet().stream()
                .filter(path -> !speaksOpenAi(path.getKey()))
                .map(path -> path.getValue().getOperations())
                .flatMap(operations -> operations.values().stream())
                .forEach(ApiDescription::describeErrors);
    }

    /** Errors there have another shape, which clients of that API read. */
    private static boolean speaksOpenAi(String path) {
        return path.startsWith("/v1/chat") || path.startsWith("/v1/models");
    }

    private static void describeErrors(Operation operation) {
        operation.getResponses().getAPIResponses().forEach((status, response) -> {
            if (status.startsWith("4") || status.startsWith("5")) {
                response.setContent(OASFactory.createContent()
                        .addMediaType(
                                Problem.MEDIA_TYPE,
                                OASFactory.createMediaType()
                                        .schema(OASFactory.createSchema().ref(PROBLEM))));
            }
        });
    }

    private static Schema problem() {
        return OASFactory.createSchema()
                .description("RFC 9457. Programs go by the code.")
                .addType(Schema.SchemaType.OBJECT)
                .addProperty("type", text("urn:millrace:problem: and the code"))
                .addProperty("title", text("What kind of problem this is"))
                .addProperty("status", OASFactory.createSchema().addType(Schema.SchemaType.INTEGER))
                .addProperty("detail", text("What was expected and found, and what to do about it"))
                .addProperty("instance", text("The path of the request"))
                .addProperty("code", text("A stable word, such as unknown_task"));
    }

    private static Schema text(String description) {
        return OASFactory.createSchema().addType(Schema.SchemaType.STRING).description(description);
    }
}

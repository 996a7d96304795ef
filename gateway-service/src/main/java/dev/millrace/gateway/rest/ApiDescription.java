package dev.millrace.gateway.rest;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.millrace.api.Task;
import dev.millrace.schemas.Problem;
import io.quarkus.smallrye.openapi.OpenApiFilter;
import java.util.List;
import org.eclipse.microprofile.openapi.OASFactory;
import org.eclipse.microprofile.openapi.OASFilter;
import org.eclipse.microprofile.openapi.models.OpenAPI;
import org.eclipse.microprofile.openapi.models.Operation;
import org.eclipse.microprofile.openapi.models.media.Schema;
import org.eclipse.microprofile.openapi.models.security.SecurityScheme;
import org.jboss.jandex.AnnotationInstance;
import org.jboss.jandex.AnnotationValue;
import org.jboss.jandex.ClassInfo;
import org.jboss.jandex.DotName;
import org.jboss.jandex.FieldInfo;
import org.jboss.jandex.IndexView;
import org.jspecify.annotations.Nullable;

/**
 * Completes the OpenAPI document: every error is a problem, what may be null says so, and what is internal is not
 * shown.
 */
@OpenApiFilter(stages = OpenApiFilter.RunStage.BUILD)
public class ApiDescription implements OASFilter {
    private static final String PROBLEM = "Problem";
    private static final String LOGIN = "bearer";
    private static final DotName SCHEMA =
            DotName.createSimple(org.eclipse.microprofile.openapi.annotations.media.Schema.class);
    private static final DotName NULLABLE = DotName.createSimple(Nullable.class);
    private static final DotName UNWRAPPED = DotName.createSimple(JsonUnwrapped.class);

    private final IndexView index;

    /** By the classes of this index. */
    public ApiDescription(IndexView index) {
        this.index = index;
    }

    @Override
    public void filterOpenAPI(OpenAPI openApi) {
        openApi.getPaths().getPathItems().keySet().stream()
                .filter(path -> path.startsWith("/internal"))
                .toList()
                .forEach(openApi.getPaths()::removePathItem);
        openApi.getComponents().addSchema(PROBLEM, problem());
        openApi.getComponents().addSecurityScheme(LOGIN, login());
        // where there is no login, nobody needs one
        openApi.addSecurityRequirement(OASFactory.createSecurityRequirement());
        openApi.addSecurityRequirement(OASFactory.createSecurityRequirement().addScheme(LOGIN));
        for (ClassInfo type : index.getClassesInPackage(Task.class.getPackageName())) {
            Schema schema = openApi.getComponents().getSchemas().get(name(type));
            if (schema != null && schema.getProperties() != null) {
                describeNulls(type, schema);
            }
        }
        openApi.getPaths().getPathItems().entrySet().stream()
                .filter(path -> !hasErrorsOfItsOwn(path.getKey()))
                .map(path -> path.getValue().getOperations())
                .flatMap(operations -> operations.values().stream())
                .forEach(ApiDescription::describeErrors);
    }

    private static String name(ClassInfo type) {
        AnnotationInstance schema = type.declaredAnnotation(SCHEMA);
        AnnotationValue name = schema == null ? null : schema.value("name");
        return name == null ? type.simpleName() : name.asString();
    }

    private void describeNulls(ClassInfo type, Schema schema) {
        for (FieldInfo field : type.fields()) {
            Schema property = schema.getProperties().get(field.name());
            if (field.hasAnnotation(UNWRAPPED)) {
                describeNulls(index.getClassByName(field.type().name()), schema);
            } else if (field.type().hasAnnotation(NULLABLE) && property != null) {
                schema.addProperty(field.name(), orNull(property));
            }
        }
    }

    private static Schema orNull(Schema property) {
        Schema none = OASFactory.createSchema().addType(Schema.SchemaType.NULL);
        return property.getRef() != null
                ? OASFactory.createSchema().addAnyOf(property).addAnyOf(none)
                : property.getType() == null || property.getType().contains(Schema.SchemaType.NULL)
                        ? property
                        : property.addType(Schema.SchemaType.NULL);
    }

    /** Errors there have another shape, which clients of those protocols read. */
    private static boolean hasErrorsOfItsOwn(String path) {
        return List.of("/v1/chat", "/v1/responses", "/v1/models", "/a2a").stream()
                .anyMatch(path::startsWith);
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

    private static SecurityScheme login() {
        return OASFactory.createSecurityScheme()
                .type(SecurityScheme.Type.HTTP)
                .scheme("bearer")
                .description("An API key (mlr_…), or a token of the issuer, where the operator asks for one"
                        + " (millrace.gateway.auth).");
    }

    private static Schema problem() {
        return OASFactory.createSchema()
                .description("RFC 9457. Programs go by the code; other members say more about the problem.")
                .additionalPropertiesSchema(OASFactory.createSchema().booleanSchema(true))
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

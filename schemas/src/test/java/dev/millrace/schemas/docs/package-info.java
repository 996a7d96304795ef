/**
 * Makes {@code docs/events.md} and {@code docs/asyncapi.yaml} from the catalogue, the schemas and the topics. The prose of
 * the first is a template among the test resources; {@link dev.millrace.schemas.docs.GeneratedDocsTest} compares the
 * results with the committed files and rewrites them on request.
 */
@NullMarked
package dev.millrace.schemas.docs;

import org.jspecify.annotations.NullMarked;

package dev.millrace.deploy;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/**
 * What is wrong with manifests.
 *
 * @param found a line for each, with the document that has it; grows
 */
record Problems(List<String> found) {

    void require(boolean holds, JsonNode document, String problem) {
        if (!holds) {
            found.add(Manifests.id(document) + ": " + problem);
        }
    }
}

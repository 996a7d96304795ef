package dev.millrace.deploy;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.fabric8.kubernetes.api.model.gatewayapi.v1.HTTPRoute;
import io.fabric8.openshift.api.model.monitoring.v1.PodMonitor;
import io.fabric8.openshift.api.model.monitoring.v1.PrometheusRule;
import io.strimzi.api.kafka.model.kafka.Kafka;
import io.strimzi.api.kafka.model.nodepool.KafkaNodePool;
import io.strimzi.api.kafka.model.topic.KafkaTopic;
import io.strimzi.api.kafka.model.user.KafkaUser;
import java.lang.reflect.InvocationTargetException;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What the API server or an operator would say of a document: fields that there are not, or that have to be there. */
final class Models {

    /** Of resources that Kubernetes does not define itself. */
    private static final Map<String, Class<?>> CUSTOM = Map.of(
            "kafka.strimzi.io/v1 Kafka", Kafka.class,
            "kafka.strimzi.io/v1 KafkaNodePool", KafkaNodePool.class,
            "kafka.strimzi.io/v1 KafkaTopic", KafkaTopic.class,
            "kafka.strimzi.io/v1 KafkaUser", KafkaUser.class,
            "monitoring.coreos.com/v1 PodMonitor", PodMonitor.class,
            "monitoring.coreos.com/v1 PrometheusRule", PrometheusRule.class,
            "gateway.networking.k8s.io/v1 HTTPRoute", HTTPRoute.class,
            "keda.sh/v1alpha1 ScaledObject", ScaledObject.class);

    /** These models put what they do not know into a map; here it is an error. */
    private static final ObjectMapper STRICT = JsonMapper.builder()
            .annotationIntrospector(new JacksonAnnotationIntrospector() {
                @Override
                public Boolean hasAnySetter(Annotated annotated) {
                    return false;
                }
            })
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .build();

    /** As much of KEDA's resource as we use, since no Java model of it is published. */
    record ScaledObject(String apiVersion, String kind, Map<String, Object> metadata, Spec spec) {
        record Spec(
                Target scaleTargetRef,
                int minReplicaCount,
                int maxReplicaCount,
                int cooldownPeriod,
                Fallback fallback,
                List<Trigger> triggers) {}

        record Target(String name, Optional<String> kind) {}

        record Fallback(int failureThreshold, int replicas) {}

        record Trigger(String type, Map<String, String> metadata) {}
    }

    private Models() {}

    /** What is wrong with this document, if anything is. */
    static Optional<String> problem(JsonNode document) {
        String version = document.path("apiVersion").asText();
        String kind = document.path("kind").asText();
        Class<?> custom = CUSTOM.get(version + ' ' + kind);
        try {
            if (custom != null) {
                STRICT.convertValue(document, custom);
            } else {
                String number = version.substring(version.indexOf('/') + 1);
                Class.forName("io.kubernetes.client.openapi.models." + Character.toUpperCase(number.charAt(0))
                                + number.substring(1) + kind)
                        .getMethod("fromJson", String.class)
                        .invoke(null, document.toString());
            }
            return Optional.empty();
        } catch (InvocationTargetException e) {
            return Optional.of(
                    Manifests.id(document) + ": " + e.getTargetException().getMessage());
        } catch (ReflectiveOperationException e) {
            return Optional.of(Manifests.id(document) + ": " + version + " is not there");
        } catch (IllegalArgumentException e) {
            return Optional.of(Manifests.id(document) + ": " + e.getMessage());
        }
    }
}

package dev.millrace.kafka;

/**
 * Which topic it is that has a name. Offsets of one mean nothing on another, whatever it is called.
 *
 * @param clusterId the cluster that it lies in
 * @param id its own, which a topic that was deleted and made again does not have any more
 */
public record TopicId(String clusterId, String id) {

    /** What has become of this topic if another one has its name now, for people. */
    public String changedInto(TopicId now) {
        return clusterId.equals(now.clusterId)
                ? "the topic was deleted and made again (it was " + id + " and is " + now.id + ")"
                : "it lies in another cluster (it was " + clusterId + " and is " + now.clusterId + ")";
    }
}

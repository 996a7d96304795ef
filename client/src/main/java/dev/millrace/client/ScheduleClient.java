package dev.millrace.client;

import dev.millrace.api.ScheduleView;
import java.util.List;
import java.util.Map;

/** Tasks that are due by the clock; docs/schedules.md says what a schedule can say. */
public final class ScheduleClient {

    private final Millrace millrace;

    ScheduleClient(Millrace millrace) {
        this.millrace = millrace;
    }

    /** All of the namespace, by name. */
    public List<ScheduleView> all() {
        return millrace.http()
                .get(new Route("/v1/schedules").with("namespace", millrace.namespace()), ScheduleView.All.class)
                .schedules();
    }

    /** One of them. */
    public ScheduleView get(String name) {
        return millrace.http().get(with(at(name)), ScheduleView.class);
    }

    /** Defines one, in place of one of that name. */
    public void put(String name, ScheduleView.Definition definition) {
        millrace.http().put(with(at(name)), definition);
    }

    /** Takes one away. */
    public void delete(String name) {
        millrace.http().delete(with(at(name)), Map.of());
    }

    /** Nothing is due until it is resumed. */
    public void pause(String name) {
        millrace.http().postNothing(with(at(name).at("pause")), Map.of());
    }

    /** What was missed meanwhile stays undone. */
    public void resume(String name) {
        millrace.http().postNothing(with(at(name).at("resume")), Map.of());
    }

    /** Has it fire now, beside its moments; the same id again fires nothing. */
    public void fire(String name, String id) {
        millrace.http().postNothing(with(at(name).at("fire")), Map.of("Idempotency-Key", id));
    }

    private static Route at(String name) {
        return new Route("/v1/schedules").at(name);
    }

    private Route with(Route route) {
        return route.with("namespace", millrace.namespace());
    }
}

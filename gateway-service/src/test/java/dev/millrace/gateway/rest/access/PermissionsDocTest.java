package dev.millrace.gateway.rest.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.rest.access.RouteTable.Route;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("slow")
class PermissionsDocTest {

    private static final Path DOCUMENT = Path.of("..", "docs", "permissions.md");

    private static final String INTRODUCTION = """
            # Permissions

            What callers of the HTTP API have to be granted, if there is a [login](security.md). Generated from the routes by
            `PermissionsDocTest`; a route that says nothing about it fails the build.

            A grant is a namespace and a permission, such as `acme:read`; `*` stands for all of either (`acme:*`, `*:read`, `*:*`).
            No permission contains another. A request that names no namespace is for the caller's own: the only one that there are
            grants for, else `default`. A permission that is missing is 403 `not_permitted`; whatever belongs to another namespace than
            the one that was asked for is 404, as if it were not there.

            | permission | lets somebody |
            |---|---|
            | `read` | see tasks, sessions, events, usage, memory and streams |
            | `write` | start, steer and schedule tasks, and send events |
            | `approve` | decide on tool calls |
            | `memory` | change documents of memory |
            | `admin` | forget, and see, send again and discard what was not taken; everywhere (`*:admin`) also drain, and correct what was not taken |

            | where | means |
            |---|---|
            | namespace | in the namespace of the path or of `?namespace=` |
            | body | in the namespace that the body, or the header `X-Namespace`, names |
            | anywhere | in any namespace at all: the answer is of none, or has only what the caller may see |
            | everywhere | in all of them, by a grant of `*` |

            Over `POST /v1/events` some types need more: `FORGET_REQUESTED` needs `admin` in its namespace; `SYSTEM_STARTED`,
            `SYSTEM_SHUTTING_DOWN` and `HEARTBEAT`, which are for all, need it everywhere. What the machines and workers say (results, replies,
            decisions, that a task has failed) is nobody's to send. Dead letters are of the namespace of the event that they were; those that are no
            event, or for all namespaces, are for those who may see all. `/v1/stream` and `/v1/notifications` are of all
            namespaces for those who may read everywhere, and else of the caller's own. What reads over `POST /mcp` and `POST /a2a/{agent}`
            (resources, and tasks that are asked for) needs `read` in its namespace as well.

            Open without a login: `/openapi`, `/q/swagger-ui`, and the files of `/console/`, whose requests need what every request
            needs; and, at the management port, `/q/health` and `/q/metrics`.

            | route | needs | where |
            |---|---|---|
            """;

    @Test
    @DisplayName("every route says what its callers need, or why they need nothing")
    void shouldSayWhatItNeeds() {
        List<Route> routes = RouteTable.routes();

        assertThat(routes).hasSizeGreaterThan(40);
        assertThat(routes)
                .filteredOn(route -> (route.needs() == null) == (route.open() == null))
                .as("routes without @Needs and @OpenToAll, or with both")
                .isEmpty();
    }

    @Test
    @DisplayName("what reads needs read, what changes something needs more, and nothing else is open")
    void shouldNeedMoreForMore() {
        assertThat(RouteTable.routes()).allSatisfy(route -> {
            if (route.needs() == null) {
                assertThat(route.path())
                        .isIn(
                                "/v1/webhooks/{source}",
                                "/health",
                                "/.well-known/agent-card.json",
                                "/a2a/{agent}/.well-known/agent-card.json");
            } else if (!route.method().equals("GET")) {
                assertThat(route.needs().value()).as(route.toString()).isNotEqualTo(Permission.READ);
            }
        });
    }

    @Test
    @DisplayName("docs/permissions.md is what the routes say")
    void shouldBeUpToDate() throws IOException {
        StringBuilder text = new StringBuilder(INTRODUCTION);
        for (Route route : RouteTable.routes()) {
            Needs needs = route.needs();
            text.append("| `%s %s` | %s | %s |%n"
                    .formatted(
                            route.method(),
                            route.path(),
                            needs == null ? "nothing" : '`' + needs.value().word() + '`',
                            needs == null ? route.open() : needs.in().name().toLowerCase(Locale.ROOT)));
        }
        if (Boolean.getBoolean("millrace.docs.write")) {
            Files.writeString(DOCUMENT, text);
        }
        assertThat(Files.readString(DOCUMENT))
                .as("docs/permissions.md is stale; write it anew with -Dmillrace.docs.write=true")
                .isEqualTo(text.toString());
    }
}

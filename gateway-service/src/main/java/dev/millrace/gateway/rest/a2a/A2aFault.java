package dev.millrace.gateway.rest.a2a;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.rpc.RpcFault;
import dev.millrace.schemas.Json;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.List;
import java.util.Optional;

/** Ends a request with one of the errors of A2A, in the terms of the binding that it came by. */
final class A2aFault extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final Reason reason;

    /** The errors of the protocol. */
    enum Reason {
        INVALID_PARAMS(RpcFault.INVALID_PARAMS, 400, "INVALID_ARGUMENT"),
        TASK_NOT_FOUND(-32001, 404, "NOT_FOUND"),
        TASK_NOT_CANCELABLE(-32002, 409, "FAILED_PRECONDITION"),
        PUSH_NOTIFICATION_NOT_SUPPORTED(-32003, 400, "FAILED_PRECONDITION"),
        UNSUPPORTED_OPERATION(-32004, 400, "FAILED_PRECONDITION"),
        CONTENT_TYPE_NOT_SUPPORTED(-32005, 415, "INVALID_ARGUMENT"),
        EXTENDED_AGENT_CARD_NOT_CONFIGURED(-32007, 400, "FAILED_PRECONDITION"),
        VERSION_NOT_SUPPORTED(-32009, 400, "FAILED_PRECONDITION");

        private final int code;
        private final int status;
        private final String word;

        Reason(int code, int status, String word) {
            this.code = code;
            this.status = status;
            this.word = word;
        }
    }

    A2aFault(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    /** A member of the request is no good. */
    static A2aFault params(String member, String expected, String found) {
        return new A2aFault(Reason.INVALID_PARAMS, member + ": expected " + expected + ", found " + found);
    }

    /**
     * What clients of A2A read of a request that was refused here as everywhere.
     *
     * @return empty if it is nothing that the protocol has a word for: there is no such agent, or somebody may not do
     *     it, or not now
     */
    static Optional<A2aFault> of(ProblemException e) {
        int status = e.problem().status();
        if (e.problem().code().equals("unknown_task")) {
            return Optional.of(new A2aFault(Reason.TASK_NOT_FOUND, e.problem().detail()));
        }
        if (e.problem().code().equals("unknown_agent")) {
            return Optional.empty();
        }
        return switch (status) {
            case 400, 404, 409, 422 ->
                Optional.of(new A2aFault(Reason.INVALID_PARAMS, e.problem().detail()));
            default -> Optional.empty();
        };
    }

    /** In the terms of JSON-RPC. */
    RpcFault rpc() {
        return new RpcFault(200, reason.code, message(), List.of(detail()));
    }

    /** In the terms of plain HTTP. */
    Response response() {
        return Response.status(reason.status)
                .type(MediaType.APPLICATION_JSON_TYPE)
                .entity(Json.writeText(new Body(new Fault(reason.status, reason.word, message(), List.of(detail())))))
                .build();
    }

    private String message() {
        return String.valueOf(getMessage());
    }

    private Detail detail() {
        return new Detail("type.googleapis.com/google.rpc.ErrorInfo", reason.name(), "a2a-protocol.org");
    }

    /** The object {@code error} and nothing beside it. */
    record Body(Fault error) {}

    record Fault(int code, String status, String message, List<Detail> details) {}

    record Detail(@JsonProperty("@type") String type, String reason, String domain) {}
}

package dev.millrace.gateway.access;

/** How callers of the HTTP API say who they are. */
public enum AuthMode {
    /** Not at all: whoever reaches the gateway may do everything. */
    NONE,
    /** With an API key. */
    KEY,
    /** With a JSON web token of an issuer, or with an API key where there is a file of them. */
    JWT
}

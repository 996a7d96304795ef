/** Reading what clients send: bodies within their limits, as records of the API, and parameters. */
@NullMarked
package dev.millrace.gateway.rest.requests;

import org.jspecify.annotations.NullMarked;

/** How a request fails: as a problem of RFC 9457, whatever went wrong. Knows no other room. */
@NullMarked
package dev.millrace.gateway.rest.problems;

import org.jspecify.annotations.NullMarked;

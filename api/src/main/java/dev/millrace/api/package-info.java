/**
 * The JSON of the HTTP API: services write with these records, the OpenAPI document shows them, and clients read with
 * them. Names, order and absence are those on the wire.
 */
@NullMarked
package dev.millrace.api;

import org.jspecify.annotations.NullMarked;

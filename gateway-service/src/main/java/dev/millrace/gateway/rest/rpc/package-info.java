/** JSON-RPC 2.0, for the rooms whose clients speak it. */
@NullMarked
package dev.millrace.gateway.rest.rpc;

import org.jspecify.annotations.NullMarked;

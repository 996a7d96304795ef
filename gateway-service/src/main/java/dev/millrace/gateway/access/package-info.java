/**
 * Who calls and what they may do: API keys, JSON web tokens, and the grants that both come with. Plain Java that knows
 * nothing of requests.
 */
@NullMarked
package dev.millrace.gateway.access;

import org.jspecify.annotations.NullMarked;

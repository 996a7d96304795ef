/**
 * What the gateway knows about tasks: what agent-service answers, and for some minutes what this instance has accepted
 * and agent-service may not have heard of yet. No framework, no rule about tasks.
 */
@NullMarked
package dev.millrace.gateway.query;

import org.jspecify.annotations.NullMarked;

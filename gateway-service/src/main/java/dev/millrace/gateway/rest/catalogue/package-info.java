/** What agent-service tells of agents, tools and usage, passed on. */
@NullMarked
package dev.millrace.gateway.rest.catalogue;

import org.jspecify.annotations.NullMarked;

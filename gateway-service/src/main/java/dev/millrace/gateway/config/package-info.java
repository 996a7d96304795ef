/** What an operator may set, and the one place that makes the gateway's parts and connects them. */
@NullMarked
package dev.millrace.gateway.config;

import org.jspecify.annotations.NullMarked;

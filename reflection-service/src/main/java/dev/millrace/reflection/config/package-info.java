/** Turns configuration into the service's parts. The only package that knows the container. */
@NullMarked
package dev.millrace.reflection.config;

import org.jspecify.annotations.NullMarked;

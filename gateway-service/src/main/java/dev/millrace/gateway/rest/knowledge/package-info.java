/**
 * Documents as knowledge: put, listed, searched, taken away. What answers is the knowledge service, a process of its
 * own.
 */
@NullMarked
package dev.millrace.gateway.rest.knowledge;

import org.jspecify.annotations.NullMarked;

/** What an operator may set, and how the parts of the service are put together. */
@NullMarked
package dev.millrace.knowledge.config;

import org.jspecify.annotations.NullMarked;

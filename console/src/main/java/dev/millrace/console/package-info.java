/**
 * Serves the pages of the console: files of this jar that are clients of the public HTTP API and know nothing else.
 * {@link dev.millrace.console.ConsoleFiles} has them with the policy that a browser holds them to, {@link
 * dev.millrace.console.ConsoleRoutes} puts them at {@code /console}.
 */
@NullMarked
package dev.millrace.console;

import org.jspecify.annotations.NullMarked;

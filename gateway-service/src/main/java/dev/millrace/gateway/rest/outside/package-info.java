/** What starts work without anybody who asks at that moment: schedules, webhooks of other systems, and rules. */
@NullMarked
package dev.millrace.gateway.rest.outside;

import org.jspecify.annotations.NullMarked;

/** What starts work without anybody who asks at that moment: schedules, and webhooks of other systems. */
@NullMarked
package dev.millrace.gateway.rest.outside;

import org.jspecify.annotations.NullMarked;

/**
 * Tells owners of tasks at their callback URLs what there is to tell, as <a
 * href="https://www.standardwebhooks.com">Standard Webhooks</a>: {@link dev.millrace.tools.webhook.WebhookDelivery}
 * takes one notice and tries until it is delivered, refused or its time is over.
 */
@NullMarked
package dev.millrace.tools.webhook;

import org.jspecify.annotations.NullMarked;

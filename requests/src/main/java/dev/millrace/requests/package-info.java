/** RequestWorker: takes requests from request topics through share groups and answers on a lane. */
@NullMarked
package dev.millrace.requests;

import org.jspecify.annotations.NullMarked;

/**
 * Workers on request topics: taking requests through a Kafka share group, running them with a limited number at a time,
 * and answering each with exactly one reply event on its lane. Knows no tool and no framework; whoever has work to do
 * implements {@link dev.millrace.requests.RequestHandler} and starts a {@link dev.millrace.requests.RequestWorker}. Why
 * it is built as it is: {@code docs/adr/0005-share-groups-with-an-elastic-pool.md}.
 */
@NullMarked
package dev.millrace.requests;

import org.jspecify.annotations.NullMarked;

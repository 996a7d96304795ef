/** What an operator sets that is the same in every service: how brokers are reached, how topics are named and made. */
@NullMarked
package dev.millrace.kafka.config;

import org.jspecify.annotations.NullMarked;

package dev.millrace.llm;

/**
 * What a request to a model used although nothing came of it that could be taken as the reply: a refusal, a reply that
 * the provider's filter stopped or that could not be read.
 *
 * @param model what was asked, as the provider calls it
 */
public record ModelCharge(String model, ModelReply.Usage usage) {}

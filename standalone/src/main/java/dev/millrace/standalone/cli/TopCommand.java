package dev.millrace.standalone.cli;

/** The command above all others: knows the terminal that all of them write to. */
public interface TopCommand {

    /** Where commands write and ask. */
    Terminal terminal();
}

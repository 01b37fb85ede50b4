package org.hghca.driver;

/**
 * What a completion queue holds of a queue pair and nobody has polled, and how far the card is by
 * that: for the direction that completes there.
 *
 * @param sends how many completions of sends, failed ones too
 * @param packets how many packets the messages of receives had whose completions stand there
 * @param unfinished how many sends the card has heard of and has not completed
 * @param sent grows with each send, or piece of one, that the card completes
 * @param receivesLeft how many receives the card was given and has not completed
 * @param next where the card goes on in the receive ring
 */
record OutstandingWork(
    int sends, int packets, int unfinished, int sent, int receivesLeft, ReceivePosition next) {}

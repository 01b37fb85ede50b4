package org.hghca.driver.rtl.recovery;

import org.hghca.driver.ring.ReceivePosition;

/**
 * The unpolled completions of a queue pair in a completion queue, and the resulting progress of the
 * card, for the direction that completes there.
 *
 * @param sends number of completions of sends, including failed ones
 * @param packets number of packets of the messages of unpolled receives
 * @param unfinished number of sends that the card has received and not completed
 * @param sent grows with each send, or step of one, that the card completes
 * @param receivesLeft number of receives that the card was given and has not completed
 * @param next position at which the card continues in the receive ring
 */
public record OutstandingWork(
    int sends, int packets, int unfinished, int sent, int receivesLeft, ReceivePosition next) {}

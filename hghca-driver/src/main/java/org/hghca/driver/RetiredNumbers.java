package org.hghca.driver;

/**
 * What the makers' RTL, which goes on in its rings where it was, has cost since its last reset.
 *
 * @param queuePairs numbers of queue pairs that are not used again, since nobody knows where the
 *     card would go on
 * @param completionQueues likewise of completion queues
 * @param lateCompletions completions of requests that the driver had completed before the card
 * @param endedUnderTraffic how often a queue pair had to go to ERR while it was still sending,
 *     which can stop the card
 */
public record RetiredNumbers(
    int queuePairs, int completionQueues, long lateCompletions, long endedUnderTraffic) {}

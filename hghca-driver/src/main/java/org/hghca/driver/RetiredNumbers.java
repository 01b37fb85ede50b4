package org.hghca.driver;

/**
 * Numbers that were retired since the last reset of the makers' RTL, which continues in its rings
 * at the last position.
 *
 * @param queuePairs numbers of queue pairs that are not reused, because the card's position is
 *     unknown
 * @param completionQueues likewise of completion queues
 * @param lateCompletions completions of requests that the driver had completed before the card
 * @param endedUnderTraffic how often a queue pair had to go to ERR while it was still sending,
 *     which can stop the card
 */
public record RetiredNumbers(
    int queuePairs, int completionQueues, long lateCompletions, long endedUnderTraffic) {}

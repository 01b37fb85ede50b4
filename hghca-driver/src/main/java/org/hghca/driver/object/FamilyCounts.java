package org.hghca.driver.object;

import java.util.OptionalLong;

/**
 * What a card family had to do since the bring-up.
 *
 * @param lateCompletions completions of requests that the driver had completed before the card
 * @param endedUnderTraffic how often a queue pair went to ERR while it was still sending
 * @param endedAtLastPsn how many queue pairs ended before their last PSN
 * @param psnsLeft the packets before the last PSN of the queue pair that ends there next; empty for
 *     none
 * @param carriedWraps how often READs carried a queue pair over the PSN wrap
 * @param carryingReads number of READs that did
 */
public record FamilyCounts(
    long lateCompletions,
    long endedUnderTraffic,
    long endedAtLastPsn,
    OptionalLong psnsLeft,
    long carriedWraps,
    long carryingReads) {
  /** Nothing. */
  static final FamilyCounts NONE = new FamilyCounts(0, 0, 0, OptionalLong.empty(), 0, 0);
}

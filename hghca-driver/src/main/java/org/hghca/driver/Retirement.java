package org.hghca.driver;

import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Frees memory only when the card can no longer reach it: after the command that makes the card
 * forget it, or, where that command failed, after the reset that ends the device. Thread-safe.
 */
final class Retirement {
  private static final Logger LOG = LoggerFactory.getLogger(Retirement.class);

  private final List<Runnable> untilReset = new ArrayList<>();

  /**
   * Makes the card forget something, then frees what belonged to it. Where the card does not obey,
   * its numbers and table entries stay taken for good, and its memory until the reset.
   *
   * @param what for the log
   * @param command makes the card forget; may throw
   * @param freeMemory must not throw
   * @param freeNumbers gives back numbers and table entries; must not throw
   */
  void retire(String what, Runnable command, Runnable freeMemory, Runnable freeNumbers) {
    try {
      command.run();
    } catch (RuntimeException e) {
      LOG.warn("{} stays reserved until the device is reset: {}", what, e.getMessage());
      synchronized (untilReset) {
        untilReset.add(freeMemory);
      }
      return;
    }
    freeMemory.run();
    freeNumbers.run();
  }

  /** The device was reset: nothing is reachable any more. */
  void afterReset() {
    List<Runnable> left;
    synchronized (untilReset) {
      left = List.copyOf(untilReset);
      untilReset.clear();
    }
    left.forEach(Runnable::run);
  }
}

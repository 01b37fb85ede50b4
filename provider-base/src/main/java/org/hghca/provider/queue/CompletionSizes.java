package org.hghca.provider.queue;

import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/** Checks of the sizes of completion queues. */
public final class CompletionSizes {
  /** Slots of the ring of a queue that names no size, where its entries need no more. */
  private static final int USUAL_RING = 8192;

  private CompletionSizes() {}

  /**
   * The ring of a queue that names no size: 8192 slots, or as many more as its entries need. It
   * does not grow with what the device could have.
   *
   * @param slots that the entries need
   * @param largest ring of the device, a power of two
   */
  public static int usualRing(int slots, int largest) {
    int needed = slots <= 1 ? 1 : Integer.highestOneBit(slots - 1) << 1;
    return Math.min(largest, Math.max(USUAL_RING, needed));
  }

  /**
   * Checks a number of entries.
   *
   * @param most that the device takes
   * @throws VerbsException EINVAL outside of 1 to that
   */
  public static void checkEntries(int wanted, int most) {
    if (wanted < 1 || wanted > most) {
      throw new VerbsException(
          Errno.EINVAL,
          "a completion queue of %d entries: the device takes 1 to %d".formatted(wanted, most));
    }
  }

  /**
   * Checks the size of a ring that a program asks for.
   *
   * @param mostEntries that the device takes
   * @throws VerbsException EINVAL for one that is no power of two from the queue's entries to that
   */
  public static void checkRing(CompletionQueueConfig config, int mostEntries) {
    int wanted = config.ringEntries();
    int most = Integer.highestOneBit(mostEntries);
    if (Integer.bitCount(wanted) != 1 || wanted > most || wanted < config.entries()) {
      throw new VerbsException(
          Errno.EINVAL,
          "a completion ring of %d entries: it must be a power of two from %d to %d"
              .formatted(wanted, config.entries(), most));
    }
  }
}

package org.hghca.driver.rtl.ring;

/**
 * The packets of a send ring since its last reset, and how far the PSN is from the last one,
 * FFFFFFh, on a card where no SEND or WRITE may have it. Under the ring's lock.
 */
final class PsnCount {
  private static final int PSNS = 1 << 24;

  private int packetLog = 8;
  private long packets;

  /** The number of packets before the one with the last PSN. */
  private long lastAt = Long.MAX_VALUE;

  /** Sends start, with a PSN; the last one is critical from here on. */
  void startAt(int psn) {
    lastAt = PSNS - 1L - psn;
  }

  /** Whether the last PSN is critical. */
  boolean isStarted() {
    return lastAt != Long.MAX_VALUE;
  }

  /** Sets the packet size of requests from now on. */
  void path(int log) {
    packetLog = log;
  }

  int packetLog() {
    return packetLog;
  }

  /** Number of packets so far. */
  long packets() {
    return packets;
  }

  /** Number of packets before the one with the last PSN. */
  long left() {
    return lastAt - packets;
  }

  /** Whether one of a message's packets would have the last PSN. */
  boolean reachesLast(long length) {
    return packets + packetsOf(length) > lastAt;
  }

  /**
   * Counts a message.
   *
   * @return whether it had the last PSN: it was a READ
   */
  boolean add(long length) {
    packets += packetsOf(length);
    if (packets <= lastAt) {
      return false;
    }
    lastAt += PSNS;
    return true;
  }

  private long packetsOf(long length) {
    return (length - 1 >>> packetLog) + 1; // no message is empty
  }

  void reset() {
    packets = 0;
    lastAt = Long.MAX_VALUE;
  }
}

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

  /** Null where a SEND or WRITE must not reach the last PSN. */
  private WrapReads wrapReads;

  /** Runs when the next request would have the last PSN, and nothing carries it. */
  private Runnable onLast = () -> {};

  private volatile boolean atLast;

  /** Sets an action for the end at the last PSN. Must be called before the first post. */
  void onLast(Runnable action) {
    onLast = action;
  }

  /** Sets what takes the PSN over the wrap; null if nothing does. */
  void wrapBy(WrapReads reads) {
    wrapReads = reads;
  }

  WrapReads wrapReads() {
    return wrapReads;
  }

  /** Whether something takes the PSN over the wrap. */
  boolean isCarried() {
    return wrapReads != null;
  }

  /** The next request would have the last PSN, and nothing carries it: ringing stops. */
  void stop() {
    atLast = true;
  }

  /** Reports that ringing has stopped. */
  void report() {
    onLast.run();
  }

  /** Whether ringing has stopped before the last PSN. */
  boolean isAtLast() {
    return atLast;
  }

  /** Sends start, with a PSN; the last one is critical from here on. */
  void startAt(int psn) {
    lastAt = PSNS - 1L - psn;
  }

  /** Whether the last PSN is critical, and nothing carries it. */
  boolean endsAtLast() {
    return wrapReads == null && lastAt != Long.MAX_VALUE;
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
    wrapReads = null;
    atLast = false;
  }
}

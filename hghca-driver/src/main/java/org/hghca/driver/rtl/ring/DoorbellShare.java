package org.hghca.driver.rtl.ring;

/**
 * The share of a send ring in the limits on doorbells: so many requests of at most so many bytes
 * may be in flight without paying for each. Under the ring's lock, except for {@link
 * #completedPaid}, which runs under that of the completion queue.
 */
final class DoorbellShare {
  /** In place of a payment: the share pays. */
  static final int OF_SHARE = -1;

  /** In place of the bytes of a share that was taken while bytes did not count: more than any. */
  private static final long UNCOUNTED = DoorbellQuota.UNCOUNTED;

  private final DoorbellQuota inFlight;
  private final DoorbellQuota.Waiting owner;
  private int size;
  private long bytes;

  /** Number of requests paid for one by one and rung so far, and of those that completed. */
  private int paidRung;

  private int paidSeen;

  DoorbellShare(DoorbellQuota inFlight, DoorbellQuota.Waiting owner) {
    this.inFlight = inFlight;
    this.owner = owner;
  }

  /** Number of requests that the ring may have in flight without paying. */
  int size() {
    return size;
  }

  /** Maximum number of bytes of each. */
  long bytes() {
    return bytes;
  }

  /**
   * Pays for a doorbell, if the share does not.
   *
   * @param others number of doorbells of this ring in flight
   * @return the payment, to be returned when the request is complete; {@link #OF_SHARE} for none,
   *     {@link DoorbellQuota#REFUSED} when it may not be rung
   */
  int pay(boolean read, long length, int others, boolean turn) {
    int ofShare = ofShare(others);
    boolean keeps = inFlight.keepsShares(read);
    boolean fits = keeps && length <= bytes;
    if (fits && ofShare < size) {
      return OF_SHARE;
    }
    if (ofShare < size) {
      give(size - ofShare);
    }
    boolean joins = size == 0 ? keeps : fits && size < inFlight.mostShare();
    boolean asMany = joins && size != 0 && bytes != UNCOUNTED;
    int payment = inFlight.pay(read, asMany ? bytes : length, turn);
    if (payment == DoorbellQuota.REFUSED) {
      return payment;
    }
    if (joins && join(payment == DoorbellQuota.WITH_BYTES, length)) {
      return OF_SHARE;
    }
    paidRung++;
    return payment;
  }

  /** Adds a request, if it is like the others, all of which have as many bytes. */
  private boolean join(boolean counts, long length) {
    if (size == 0) {
      bytes = counts ? InFlightCount.wholeBeats(length) : UNCOUNTED;
      inFlight.shares(owner);
    } else if (counts == (bytes == UNCOUNTED)) {
      return false; // bytes have begun to count
    }
    size++;
    return true;
  }

  /** How many of some doorbells in flight are of the share; below 0 of some were never rung. */
  private int ofShare(int underWay) {
    // Read after the number of completed requests, before which it is written.
    return Math.max(underWay, 0) - (paidRung - paidSeen);
  }

  /** A request that was paid for is complete. */
  void completedPaid() {
    paidSeen++;
  }

  /** Returns the part that is not in flight; says whether there was any. */
  boolean returnUnused(int underWay) {
    int unused = size - ofShare(underWay);
    if (unused > 0) {
      give(unused);
    }
    return unused > 0;
  }

  /** Returns all of it. */
  void returnAll() {
    if (size != 0) {
      give(size);
    }
  }

  private void give(int unused) {
    size -= unused;
    inFlight.giveShare(unused, bytes);
    if (size == 0) {
      inFlight.sharesNoMore(owner);
    }
  }
}

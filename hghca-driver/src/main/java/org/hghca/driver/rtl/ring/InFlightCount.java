package org.hghca.driver.rtl.ring;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The requests in flight on a card and, from its first READ on, their bytes: one word, so that a
 * request is checked against all limits at once. Thread-safe.
 *
 * <p>Bytes count in beats of 32, in which the card moves them. Before the first READ requests are
 * taken without their bytes; a READ waits until the last of those has been given back.
 */
final class InFlightCount {
  private static final int BEAT_LOG = 5;

  /** The fields of the word: requests with and without bytes, beats of READs, beats of all. */
  private static final int COUNTED_SHIFT = 8;

  private static final int READS_SHIFT = 16;
  private static final int BEATS_SHIFT = 25;
  private static final long SMALL = 0xff;
  private static final long COUNTS_BYTES = 1L << 24;

  /** Results of {@link #take}: without bytes, or with them. */
  static final int WITHOUT_BYTES = 1;

  static final int WITH_BYTES = 2;
  static final int REFUSED = 0;

  private final int mostRequests;
  private final int mostReadBeats;
  private final int mostBeats;
  private final AtomicLong word = new AtomicLong();

  /**
   * Nothing in flight.
   *
   * @param requests maximum number of requests, at most 255
   * @param readBytes maximum number of bytes that READs fetch together, at most 8160
   * @param bytesBesideRead maximum number of bytes of all requests while there is a READ
   */
  InFlightCount(int requests, int readBytes, int bytesBesideRead) {
    mostRequests = requests;
    mostReadBeats = readBytes >>> BEAT_LOG;
    mostBeats = bytesBesideRead >>> BEAT_LOG;
  }

  private static long beats(long bytes) {
    return bytes + (1 << BEAT_LOG) - 1 >>> BEAT_LOG;
  }

  /** From now on bytes count. */
  void countBytes() {
    word.getAndUpdate(now -> now | COUNTS_BYTES);
  }

  /** Whether bytes count. */
  boolean countsBytes() {
    return (word.get() & COUNTS_BYTES) != 0;
  }

  /**
   * Adds a request if the limits allow it.
   *
   * @param read whether it is a READ, for which bytes count already
   * @param bytes that it moves; 0 for an element that moves none
   */
  int take(boolean read, long bytes) {
    while (true) {
      long now = word.get();
      if (requests(now) >= mostRequests) {
        return REFUSED;
      }
      boolean counts = (now & COUNTS_BYTES) != 0;
      if (counts && !fits(now, read, beats(bytes))) {
        return REFUSED;
      }
      if (word.compareAndSet(now, now + (counts ? withBytes(read, bytes) : 1))) {
        return counts ? WITH_BYTES : WITHOUT_BYTES;
      }
    }
  }

  /** Whether the bytes of a request are within the limits; a long one goes alone beside READs. */
  private boolean fits(long now, boolean read, long beats) {
    if (read && (now & SMALL) != 0) {
      return false;
    }
    long reads = (now >>> READS_SHIFT & SMALL) + (read ? beats : 0);
    long others = now >>> BEATS_SHIFT;
    return reads == 0 || reads <= mostReadBeats && (others + beats <= mostBeats || others == 0);
  }

  private static long withBytes(boolean read, long bytes) {
    long beats = beats(bytes);
    return (1L << COUNTED_SHIFT) + (read ? beats << READS_SHIFT : 0) + (beats << BEATS_SHIFT);
  }

  /** Returns requests that were taken without bytes. */
  void give(int requests) {
    word.getAndAdd(-requests);
  }

  /** Returns SENDs or WRITEs that were taken with these bytes each. */
  void give(int requests, long bytes) {
    word.getAndAdd(-requests * withBytes(false, bytes));
  }

  /** The most bytes of a request that count as much as these. */
  static long wholeBeats(long bytes) {
    return beats(bytes) << BEAT_LOG;
  }

  /** Returns a request that was taken with these bytes. */
  void give(boolean read, long bytes) {
    word.getAndAdd(-withBytes(read, bytes));
  }

  /** Whether there is no room for a further request. */
  boolean isFull() {
    return requests(word.get()) >= mostRequests;
  }

  /** Whether there is room for at most one further request. */
  boolean isAlmostFull() {
    return requests(word.get()) >= mostRequests - 1;
  }

  private static int requests(long word) {
    return (int) ((word & SMALL) + (word >>> COUNTED_SHIFT & SMALL));
  }
}

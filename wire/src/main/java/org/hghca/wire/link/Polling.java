package org.hghca.wire.link;

import java.util.function.LongSupplier;

/**
 * Whether threads other than the poller's read a link. Such a thread polls a completion queue, or
 * waits for an event and looks a few times before. Where looking costs a system call, each look
 * counts; else only many without a packet that the poller's thread has taken.
 *
 * <p>Changed by threads that look, asked by the poller's.
 */
final class Polling {
  /** So long after such a thread has read a link it is left to that thread, in nanoseconds. */
  static final long LEFT = 50_000;

  /** So many looks count, where they cost no system call; a power of 2. */
  static final int LOOKS = 32;

  private final boolean eachCounts;
  private final LongSupplier clock;

  /** When such a thread has read last. */
  private volatile long readAt;

  /** How often such threads have looked since the poller's thread has taken a packet; a hint. */
  private int looks;

  /**
   * Nobody has read.
   *
   * @param eachCounts whether a look costs a system call
   * @param clock nanoseconds
   */
  Polling(boolean eachCounts, LongSupplier clock) {
    this.eachCounts = eachCounts;
    this.clock = clock;
    readAt = clock.getAsLong() - LEFT;
  }

  /** A thread is going to look again and again. */
  void begins() {
    readAt = clock.getAsLong();
  }

  /** It has stopped. */
  void ends() {
    readAt = clock.getAsLong() - LEFT;
  }

  /** A thread looks. */
  void looks() {
    if (eachCounts || (++looks & LOOKS - 1) == 0) {
      readAt = clock.getAsLong();
    }
  }

  /** What it found there keeps the link its own: a thread that copies much looks seldom. */
  void finds(long now) {
    if (now - readAt < LEFT) {
      readAt = now;
    }
  }

  /** The poller's thread has taken a packet. */
  void overtaken() {
    looks = 0;
  }

  /** Whether the link is left to such threads. */
  boolean isLeft() {
    return clock.getAsLong() - readAt < LEFT;
  }
}

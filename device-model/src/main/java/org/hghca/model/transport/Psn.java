package org.hghca.model.transport;

/** Arithmetic of packet sequence numbers, which count modulo 2^24. */
final class Psn {
  private static final int MASK = 0xff_ffff;

  private Psn() {}

  static int add(int psn, int count) {
    return psn + count & MASK;
  }

  /** How many packets {@code to} is ahead of {@code from}, 0 to 2^24 - 1. */
  static int distance(int from, int to) {
    return to - from & MASK;
  }

  /** How far a number is ahead of another one, negative when it is behind: -2^23 to 2^23 - 1. */
  static int compare(int psn, int other) {
    return psn - other << 8 >> 8;
  }
}

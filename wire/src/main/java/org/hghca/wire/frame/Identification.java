package org.hghca.wire.frame;

import java.util.Arrays;

/**
 * Finds the identification of an IPv4 packet, which a UDP socket does not report, from its
 * invariant CRC. A CRC is linear: a wrong identification adds W x^(32 + 8n) modulo the polynomial,
 * where W are the 16 wrong bits as a polynomial, and n is the number of bytes behind them.
 * Multiplied by the inverse of that power, the difference is W itself, if nothing else is wrong: so
 * 16 bits of the CRC still protect the packet. Allocates for new lengths; used by one thread.
 */
final class Identification {
  /** The result of {@link #solve} when something else is wrong. */
  static final int NONE = -1;

  /** CRC-32 of Ethernet; the highest bit is the coefficient of x^0. */
  private static final int POLYNOMIAL = 0xedb8_8320;

  private static final int ONE = 1 << 31;
  private static final int X = 1 << 30;

  /** Powers of x repeat after so many: the polynomial is primitive. */
  private static final long ORDER = (1L << 32) - 1;

  private static final int CRC_BITS = 32;

  /** By the number of bytes behind the identification; 0 where it is not computed yet. */
  private int[] inverses = new int[256];

  /**
   * Finds what is wrong in an identification.
   *
   * @param difference between the packet's CRC, and the one it would have with the assumed
   *     identification
   * @param behind the number of bytes that the CRC covers behind the identification
   * @return the bits that differ from the assumed one, or {@link #NONE}
   */
  int solve(int difference, int behind) {
    int wrong = multiply(inverse(behind), difference);
    // The first bit that is sent is the lowest of a byte, and has the highest power.
    return (wrong & 0xffff) == 0 ? Short.reverseBytes((short) (wrong >>> 16)) & 0xffff : NONE;
  }

  private int inverse(int behind) {
    if (behind >= inverses.length) {
      inverses = Arrays.copyOf(inverses, Math.max(behind + 1, 2 * inverses.length));
    }
    if (inverses[behind] == 0) {
      inverses[behind] = power(ORDER - (CRC_BITS + 8L * behind) % ORDER);
    }
    return inverses[behind];
  }

  /** x^n modulo the polynomial. */
  private static int power(long n) {
    int result = ONE;
    int square = X;
    for (long left = n; left != 0; left >>>= 1) {
      if ((left & 1) != 0) {
        result = multiply(square, result);
      }
      square = multiply(square, square);
    }
    return result;
  }

  private static int multiply(int a, int b) {
    int product = 0;
    int factor = b;
    for (int bit = ONE; bit != 0; bit >>>= 1) {
      product ^= (a & bit) != 0 ? factor : 0;
      factor = (factor & 1) != 0 ? factor >>> 1 ^ POLYNOMIAL : factor >>> 1;
    }
    return product;
  }
}

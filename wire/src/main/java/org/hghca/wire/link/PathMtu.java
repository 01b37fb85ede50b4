package org.hghca.wire.link;

/** The path MTU of RoCE that fits into a network's MTU. */
final class PathMtu {
  private static final int LARGEST = 4096;
  private static final int SMALLEST = 256;

  /** The longest headers of a packet, from IPv6 to the invariant CRC. */
  private static final int OVERHEAD = 80;

  private PathMtu() {}

  /**
   * The largest that fits, as other devices choose it; never less than the smallest.
   *
   * @param mtu bytes of the longest IP packet
   */
  static int of(int mtu) {
    int result = LARGEST;
    while (result > SMALLEST && result > mtu - OVERHEAD) {
      result /= 2;
    }
    return result;
  }
}

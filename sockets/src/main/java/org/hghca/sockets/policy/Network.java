package org.hghca.sockets.policy;

import java.net.InetAddress;
import java.util.Arrays;

/**
 * A network: the addresses that begin as one does.
 *
 * @param address of the network, or any in it
 * @param bits that the addresses have in common
 */
record Network(InetAddress address, int bits) {
  /**
   * Reads {@code 10.0.0.0/8}, {@code fd00::/16}, or one address.
   *
   * @throws IllegalArgumentException when it is neither
   */
  static Network parse(String text) {
    int slash = text.indexOf('/');
    InetAddress address = InetAddress.ofLiteral(slash < 0 ? text : text.substring(0, slash));
    int longest = address.getAddress().length * Byte.SIZE;
    int bits = slash < 0 ? longest : Integer.parseInt(text.substring(slash + 1));
    if (bits < 0 || bits > longest) {
      throw new IllegalArgumentException("/%d is not /0 to /%d".formatted(bits, longest));
    }
    return new Network(address, bits);
  }

  boolean contains(InetAddress other) {
    return sameFamily(address, other) && commonBits(address, other) >= bits;
  }

  static boolean sameFamily(InetAddress one, InetAddress other) {
    return one.getAddress().length == other.getAddress().length;
  }

  /** How many bits two addresses of one family begin with in common. */
  static int commonBits(InetAddress one, InetAddress other) {
    byte[] left = one.getAddress();
    byte[] right = other.getAddress();
    int same = Arrays.mismatch(left, right);
    if (same < 0) {
      return left.length * Byte.SIZE;
    }
    int different = (left[same] ^ right[same]) & 0xff;
    return same * Byte.SIZE + Integer.numberOfLeadingZeros(different) - (Integer.SIZE - Byte.SIZE);
  }

  @Override
  public String toString() {
    return address.getHostAddress() + "/" + bits;
  }
}

package org.hghca.model.fault;

import java.util.Arrays;

/** Payload that the card writes and that arrives changed, on its way from or to the data path. */
final class ChangedPayload {
  private static final int DWORD = 4;

  /** Bit 11 of each little-endian dword: bit 3 of its second byte. */
  private static final int STUCK_BYTE = 1;

  private static final int STUCK_BIT = 1 << 3;

  /** No length of a usual message. */
  private static final int LENGTH = 389;

  private ChangedPayload() {}

  /** A bit of each dword of memory is stuck at 1. */
  static byte[] stuckBit(byte[] bytes, Place place, long iova) {
    for (int i = 0; i < bytes.length; i++) {
      if ((iova + i) % DWORD == STUCK_BYTE) {
        bytes[i] |= STUCK_BIT;
      }
    }
    return bytes;
  }

  /** The last byte of a write of one length is lost. */
  static byte[] withoutEnd(byte[] bytes, Place place, long iova) {
    return bytes.length == LENGTH ? Arrays.copyOf(bytes, LENGTH - 1) : bytes;
  }

  /** The last dword of each write is lost. */
  static byte[] truncated(byte[] bytes, Place place, long iova) {
    return Arrays.copyOf(bytes, Math.max(0, bytes.length - DWORD));
  }

  /** Each byte of a write is one further, and the last one is at its beginning. */
  static byte[] shifted(byte[] bytes, Place place, long iova) {
    byte[] shifted = new byte[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      shifted[(i + 1) % bytes.length] = bytes[i];
    }
    return shifted;
  }

  /** Each two dwords of a write change places. */
  static byte[] wordsSwapped(byte[] bytes, Place place, long iova) {
    return swapped(bytes, DWORD);
  }

  /** The two halves of each dword of a write change places. */
  static byte[] halvesSwapped(byte[] bytes, Place place, long iova) {
    return swapped(bytes, DWORD / 2);
  }

  private static byte[] swapped(byte[] bytes, int unit) {
    byte[] swapped = bytes.clone();
    for (int i = 0; i + 2 * unit <= bytes.length; i += 2 * unit) {
      System.arraycopy(bytes, i, swapped, i + unit, unit);
      System.arraycopy(bytes, i + unit, swapped, i, unit);
    }
    return swapped;
  }

  /** Zeros arrive. */
  static byte[] zeros(byte[] bytes, Place place, long iova) {
    Arrays.fill(bytes, (byte) 0);
    return bytes;
  }

  /** Ones arrive. */
  static byte[] ones(byte[] bytes, Place place, long iova) {
    Arrays.fill(bytes, (byte) 0xff);
    return bytes;
  }

  /** A bit of one write of many flips. */
  static final class Flip implements ChangedData.Change {
    private final int each;

    private int written;

    /**
     * @param each of how many writes one is changed
     */
    Flip(int each) {
      this.each = each;
    }

    @Override
    public byte[] of(byte[] bytes, Place place, long iova) {
      if (++written % each == 0) {
        bytes[bytes.length / 2] ^= 4;
      }
      return bytes;
    }
  }
}

package org.hghca.cm.mad;

import java.nio.ByteBuffer;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.verbs.Gid;

/** The 232 bytes behind the header of a MAD, big-endian; offsets count from their start. */
final class Body {
  static final int LENGTH = 232;

  private final ByteBuffer bytes;

  /**
   * Bytes that are read and written in place.
   *
   * @param bytes exactly {@link #LENGTH}
   */
  Body(ByteBuffer bytes) {
    this.bytes = bytes;
  }

  int u8(int at) {
    return bytes.get(at) & 0xff;
  }

  int u16(int at) {
    return bytes.getShort(at) & 0xffff;
  }

  int u24(int at) {
    return u16(at) << 8 | u8(at + 2);
  }

  int u32(int at) {
    return bytes.getInt(at);
  }

  long u64(int at) {
    return bytes.getLong(at);
  }

  /** Bits {@code high} to {@code low} of a byte. */
  int bits(int at, int high, int low) {
    return u8(at) >>> low & (1 << high - low + 1) - 1;
  }

  boolean bit(int at, int bit) {
    return bits(at, bit, bit) != 0;
  }

  Gid gid(int at) {
    return new Gid(u64(at), u64(at + Long.BYTES));
  }

  PrivateData data(int at, int length) {
    byte[] data = new byte[length];
    bytes.get(at, data);
    return PrivateData.of(data);
  }

  /** The private data, which goes to the end. */
  PrivateData rest(int at) {
    return data(at, LENGTH - at);
  }

  void u8(int at, int value) {
    bits(at, 7, 0, value);
  }

  void u16(int at, int value) {
    bytes.putShort(at, (short) checked(value, 16));
  }

  void u24(int at, int value) {
    checked(value, 24);
    bytes.putShort(at, (short) (value >>> 8));
    bytes.put(at + 2, (byte) value);
  }

  void u32(int at, int value) {
    bytes.putInt(at, value);
  }

  void u64(int at, long value) {
    bytes.putLong(at, value);
  }

  /** Sets bits of a byte that are 0. */
  void bits(int at, int high, int low, int value) {
    bytes.put(at, (byte) (u8(at) | checked(value, high - low + 1) << low));
  }

  void bit(int at, int bit, boolean value) {
    bits(at, bit, bit, value ? 1 : 0);
  }

  void gid(int at, Gid gid) {
    u64(at, gid.subnetPrefix());
    u64(at + Long.BYTES, gid.interfaceId());
  }

  /** Private data, with zeros to the end. */
  void rest(int at, PrivateData data) {
    data(at, LENGTH - at, data);
  }

  void data(int at, int room, PrivateData data) {
    if (data.length() > room) {
      throw new IllegalArgumentException(
          "%d bytes of data, where there is room for %d".formatted(data.length(), room));
    }
    bytes.put(at, data.toArray());
  }

  private static int checked(int value, int bits) {
    if (value >>> bits != 0) {
      throw new IllegalArgumentException(
          "0x%x in a field of %d bits of a MAD".formatted(value, bits));
    }
    return value;
  }
}

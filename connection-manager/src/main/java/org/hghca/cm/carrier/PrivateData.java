package org.hghca.cm.carrier;

import java.util.Arrays;
import java.util.HexFormat;

/** Bytes of an application that travel with a message of a connection. Immutable. */
public final class PrivateData {
  public static final PrivateData EMPTY = new PrivateData(new byte[0]);

  private final byte[] bytes;

  private PrivateData(byte[] bytes) {
    this.bytes = bytes;
  }

  /** A copy of an array. */
  public static PrivateData of(byte[] bytes) {
    return new PrivateData(bytes.clone());
  }

  public int length() {
    return bytes.length;
  }

  /** A copy. */
  public byte[] toArray() {
    return bytes.clone();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof PrivateData that && Arrays.equals(bytes, that.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  @Override
  public String toString() {
    return HexFormat.of().formatHex(bytes);
  }
}

package org.hghca.virtio.driver;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.hghca.verbs.Gid;

/** Values in the order of the wire, as structures hold them. */
final class Wire {
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private Wire() {}

  /** Stores a GID in 16 bytes. */
  static void put(Gid gid, MemorySegment to) {
    to.set(LONG, 0, gid.subnetPrefix());
    to.set(LONG, Long.BYTES, gid.interfaceId());
  }

  /** Stores a MAC in 6 bytes. */
  static void putMac(long mac, MemorySegment to) {
    for (int i = 0; i < 6; i++) {
      to.set(ValueLayout.JAVA_BYTE, i, (byte) (mac >>> 40 - 8 * i));
    }
  }
}

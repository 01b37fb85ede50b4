package org.hghca.wire.capture;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The VLAN tags of a captured Ethernet frame. Ports take no more than one; captures of switches and
 * of trunks have several (IEEE 802.1ad).
 */
final class EthernetTags {
  /** Where the first type is, of a tag or of the body. */
  static final int TYPE_AT = 12;

  static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private static final int TAG_SIZE = 4;
  private static final int CUSTOMER = 0x8100;
  private static final int SERVICE = 0x88a8;

  /** What switches wrote before 802.1ad. */
  private static final int OLD_SERVICE = 0x9100;

  private EthernetTags() {}

  /** The frame with its innermost tag only, as one of a customer. */
  static MemorySegment innermost(MemorySegment frame) {
    int at = TYPE_AT;
    while (isTag(number(frame, at)) && isTag(number(frame, at + TAG_SIZE))) {
      at += TAG_SIZE;
    }
    if (!isTag(number(frame, at)) || at == TYPE_AT && number(frame, at) == CUSTOMER) {
      return frame;
    }
    long rest = frame.byteSize() - at;
    MemorySegment inner = MemorySegment.ofArray(new byte[TYPE_AT + (int) rest]);
    MemorySegment.copy(frame, 0, inner, 0, TYPE_AT);
    MemorySegment.copy(frame, at, inner, TYPE_AT, rest);
    inner.set(SHORT, TYPE_AT, (short) CUSTOMER);
    return inner;
  }

  private static boolean isTag(int type) {
    return type == CUSTOMER || type == SERVICE || type == OLD_SERVICE;
  }

  /** The number of 16 bits at an offset, 0 behind the end. */
  static int number(MemorySegment frame, int at) {
    return at + 2 <= frame.byteSize() ? frame.get(SHORT, at) & 0xffff : 0;
  }
}

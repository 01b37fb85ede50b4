package org.hghca.driver.rtl.ring;

import java.lang.foreign.MemorySegment;
import org.hghca.abi.DataUnit;
import org.hghca.abi.InlineUnit;
import org.hghca.abi.NextUnit;
import org.hghca.abi.RemoteAddressUnit;
import org.hghca.abi.UdUnit;
import org.hghca.abi.WqeOpcode;

/**
 * Elements of a send ring beside those that posting writes: which memory one names, and the one
 * that makes a card in ERR flush. Under the ring's lock.
 */
final class WrittenElements {
  private static final int UNIT = 16;
  private static final int UNIT_SHIFT = 4;

  /** Fills a unit, with the header of inline data. */
  private static final int FLUSH_BYTES = 12;

  private WrittenElements() {}

  /**
   * Writes an element that is never executed, because the card is in ERR; if it were, an RDMA WRITE
   * without a key would have no effect.
   *
   * @return its size in units
   */
  static int writeFlush(MemorySegment ring, long offset) {
    long data = offset + UNIT + RemoteAddressUnit.SIZE;
    int units = InlineUnit.units(FLUSH_BYTES);
    int size = (int) (data - offset >>> UNIT_SHIFT) + units;
    RemoteAddressUnit.write(ring, offset + UNIT, 0, 0);
    ring.asSlice(data, (long) units * UNIT).fill((byte) 0);
    InlineUnit.writeHeader(ring, data, FLUSH_BYTES);
    NextUnit.write(
        ring,
        offset,
        NextUnit.address(0, 0),
        NextUnit.size(0, 0),
        NextUnit.control(WqeOpcode.RDMA_WRITE, size, NextUnit.MARKER),
        0);
    return size;
  }

  /**
   * Whether the element in a slot names memory by a key: in a data unit, or as the source of a
   * READ, because that card may be this one.
   *
   * @param slots its memory: the ring, or a copy
   * @param datagrams whether the ring is of a UD queue pair
   */
  static boolean names(MemorySegment slots, long offset, boolean datagrams, int key) {
    int opcode = NextUnit.opcode(slots, offset);
    long end = offset + (long) NextUnit.size16(slots, offset) * UNIT;
    long at = offset + UNIT;
    if (opcode == WqeOpcode.RDMA_READ && RemoteAddressUnit.rkey(slots, at) == key) {
      return true;
    }
    if (opcode != WqeOpcode.SEND && opcode != WqeOpcode.SEND_IMM) {
      at += RemoteAddressUnit.SIZE;
    } else if (datagrams) {
      at += UdUnit.SIZE;
    }
    if (at < end && DataUnit.isInline(DataUnit.firstDword(slots, at))) {
      return false;
    }
    for (; at < end; at += UNIT) {
      if (DataUnit.lkey(slots, at) == key) {
        return true;
      }
    }
    return false;
  }
}

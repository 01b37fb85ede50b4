package org.hghca.driver.rtl.ring;

import java.lang.foreign.MemorySegment;
import org.hghca.abi.DataUnit;
import org.hghca.abi.NextUnit;
import org.hghca.abi.RemoteAddressUnit;
import org.hghca.abi.WqeOpcode;
import org.hghca.verbs.WrapMemory;

/**
 * The READs that carry the PSN of a queue pair over the wrap, on a card that stops when a SEND or
 * WRITE has the last PSN: from memory that the peer's driver offers, into memory that nobody reads.
 *
 * @param ofPeer where they read
 * @param sinkKey the key of the memory that they write
 * @param sinkAddress its address, the start of a page
 * @param most maximum number of bytes that one READ may fetch; the sink is as long
 */
public record WrapReads(WrapMemory ofPeer, int sinkKey, long sinkAddress, int most) {
  /** Bytes of a READ's last packet: one beat, the least that the card moves. */
  private static final int LAST = 32;

  private static final int UNIT = 16;
  private static final int UNITS = (NextUnit.SIZE + RemoteAddressUnit.SIZE + DataUnit.SIZE) / UNIT;

  /** Bytes of the next READ, which has as many packets as the limit allows. */
  int bytes(long packetsLeft, int packetLog) {
    long packets = Math.min(packetsLeft, 1 + (most - LAST >>> packetLog));
    return (int) (packets - 1 << packetLog) + LAST;
  }

  /** Writes a READ into a slot. */
  void write(MemorySegment ring, long offset, int bytes) {
    long at = offset + NextUnit.SIZE;
    RemoteAddressUnit.write(ring, at, ofPeer.address(), ofPeer.rkey());
    DataUnit.write(ring, at + RemoteAddressUnit.SIZE, bytes, sinkKey, sinkAddress);
    NextUnit.write(
        ring,
        offset,
        NextUnit.address(0, 0),
        NextUnit.size(0, 0),
        NextUnit.control(WqeOpcode.RDMA_READ, UNITS, NextUnit.COMPLETION | NextUnit.MARKER),
        0);
  }
}

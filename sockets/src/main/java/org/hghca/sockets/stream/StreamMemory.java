package org.hghca.sockets.stream;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.hghca.sockets.protocol.Framing;
import org.hghca.sockets.protocol.HalfEntry;
import org.hghca.sockets.protocol.MappingEntry;
import org.hghca.sockets.protocol.SendWindow;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.RemoteMemory;

/**
 * The memory of a stream, one region: a peer that writes where it should not reaches only what is
 * sent to it.
 *
 * <pre>
 *  +----------------+-----------------+-----------------+---------+-------------+
 *  | receive buffer | table, mappings | grants, entries | inline  | send buffer |
 *  +----------------+-----------------+-----------------+---------+-------------+
 * </pre>
 *
 * The peer writes into the receive buffer, the table, and its mappings; where it sends messages,
 * the device alone writes, into the slots of which the receive buffer then consists. The grants and
 * entries are what this end writes into those of the peer: grants never change. In their place are
 * the words of control messages that are sent. Inline messages are copied together in their place.
 */
final class StreamMemory implements AutoCloseable {
  private static final int TABLE_BYTES = HalfEntry.COUNT * HalfEntry.BYTES;
  private static final int LINE = 64;
  private static final int LITTLE = 8;

  private final MemoryRegion region;
  private final MemorySegment segment;
  private final ByteBuffer bytes;
  private final int half;
  private final int table;
  private final int grants;
  private final int entries;
  private final int inline;
  private final int send;
  private final int sendBytes;

  /**
   * Registered memory.
   *
   * @param framing whether the peer writes
   * @param receiveBytes of the receive buffer, even
   * @param inlineBytes the longest inline message
   */
  StreamMemory(
      ProtectionDomain domain,
      Framing framing,
      StreamOptions options,
      int receiveBytes,
      int inlineBytes) {
    half = receiveBytes / 2;
    table = align(receiveBytes);
    int mappings = options.mappings() * MappingEntry.BYTES;
    grants = align(table + TABLE_BYTES + mappings);
    entries = grants + TABLE_BYTES;
    inline = align(entries + mappings);
    send = align(inline + inlineBytes);
    sendBytes = sendBytes(options);
    long all = (long) send + sendBytes;
    region =
        framing == Framing.WRITES
            ? domain.allocate(all, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE)
            : domain.allocate(all, AccessFlag.LOCAL_WRITE);
    segment = region.segment();
    bytes = segment.asByteBuffer();
  }

  /**
   * The send buffer pays for what else is here, if that is little: memory comes in powers of two,
   * as buffers usually are.
   */
  private int sendBytes(StreamOptions options) {
    int beside = send - options.receiveBuffer();
    int wanted = options.sendBuffer();
    return (beside <= wanted / LITTLE ? wanted - beside : wanted) & -Outgoing.GRAIN;
  }

  private static int align(int offset) {
    return offset + LINE - 1 & -LINE;
  }

  /** Prepares the grants for a peer. */
  void setGrants(boolean bigEndian) {
    ByteOrder order = bigEndian ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
    for (int i = 0; i < HalfEntry.COUNT; i++) {
      long address = region.address() + (long) i * half;
      HalfEntry.put(segment, grant(i), order, address, region.rkey(), half);
    }
  }

  MemoryRegion region() {
    return region;
  }

  /** What is read by copying. */
  ByteBuffer bytes() {
    return bytes;
  }

  MemorySegment segment() {
    return segment;
  }

  /** Bytes of half the receive buffer. */
  int half() {
    return half;
  }

  /** The table, for the peer. */
  RemoteMemory remoteTable() {
    return new RemoteMemory(region.address() + table, region.rkey(), HalfEntry.COUNT);
  }

  /** The first half of the receive buffer, for the peer. */
  RemoteMemory remoteHalf() {
    return new RemoteMemory(region.address(), region.rkey(), half);
  }

  /** Where an entry of the table is. */
  int entry(int index) {
    return table + index * HalfEntry.BYTES;
  }

  /** Where the grant of a half is. */
  int grant(int index) {
    return grants + index * HalfEntry.BYTES;
  }

  /** Where the word of a control message is that is sent, of {@link SendWindow#CONTROLS}. */
  int word(int index) {
    return grants + index * Integer.BYTES;
  }

  /** Where the peer writes what it tells of a piece of memory. */
  int mapping(int index) {
    return table + TABLE_BYTES + index * MappingEntry.BYTES;
  }

  /** Where the entry is that tells the peer of a piece of memory. */
  int ownMapping(int index) {
    return entries + index * MappingEntry.BYTES;
  }

  /** Where inline messages are put together. */
  int inline() {
    return inline;
  }

  /** Where the send buffer begins. */
  int send() {
    return send;
  }

  /** Bytes of the send buffer. */
  int sendBytes() {
    return sendBytes;
  }

  @Override
  public void close() {
    region.close();
  }
}

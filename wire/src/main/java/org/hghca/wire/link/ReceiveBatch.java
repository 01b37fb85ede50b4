package org.hghca.wire.link;

import org.hghca.wire.Packet;
import org.hghca.wire.PacketPool;
import org.hghca.wire.frame.FrameDecoder;

/**
 * Packets that the poller fills in one read, and native buffers for their frames. One batch serves
 * all links of a process, as one thread reads them. Used by one thread at a time.
 */
public final class ReceiveBatch {
  /** The most packets that are read at once. */
  public static final int SIZE = 64;

  private final Packet[] packets = new Packet[SIZE];
  private final DatagramBatch datagrams;
  private final FrameDecoder datagramDecoder;
  private int count;

  ReceiveBatch(DatagramBatch datagrams) {
    this.datagrams = datagrams;
    this.datagramDecoder = FrameDecoder.ofRestored(datagrams.frames());
    PacketPool pool = new PacketPool();
    for (int i = 0; i < SIZE; i++) {
      packets[i] = pool.take();
    }
  }

  /** The number of received packets. */
  public int count() {
    return count;
  }

  /**
   * Takes a received packet.
   *
   * @param index from 0 to below {@link #count}
   * @param empty the packet that replaces it
   */
  public Packet exchange(int index, Packet empty) {
    Packet packet = packets[index];
    packets[index] = empty;
    return packet;
  }

  DatagramBatch datagrams() {
    return datagrams;
  }

  /** Reads frames from the memory of {@link #datagrams}. */
  FrameDecoder datagramDecoder() {
    return datagramDecoder;
  }

  void clear() {
    count = 0;
  }

  boolean isFull() {
    return count == SIZE;
  }

  /** The packet to fill next. */
  Packet next() {
    return packets[count];
  }

  /** The packet that was {@link #next} is filled. */
  void filled() {
    count++;
  }
}

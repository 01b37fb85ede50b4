package org.hghca.wire.link;

import java.util.Arrays;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketPool;
import org.hghca.wire.frame.FrameDecoder;

/**
 * Packets that the poller fills in one read, and native buffers for their frames. One batch serves
 * all links of a process, as one thread reads them. Used by one thread at a time.
 */
public final class ReceiveBatch {
  /** With so many packets a batch is full; it may have more, which have come together. */
  static final int SIZE = 64;

  /** Datagrams that are received at once. */
  private static final int DATAGRAMS = 16;

  private final PacketPool pool = new PacketPool();
  private Packet[] packets = new Packet[SIZE];
  private final DatagramBatch datagrams = DatagramBatch.ofJoined(DATAGRAMS);
  private final FrameDecoder datagramDecoder;
  private int count;

  ReceiveBatch() {
    datagramDecoder = FrameDecoder.ofRestored(datagrams.frames());
    fill(0);
  }

  private void fill(int from) {
    for (int i = from; i < packets.length; i++) {
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
    return count >= SIZE;
  }

  /** The packet to fill next. */
  Packet next() {
    return packets[count];
  }

  /** The packet that was {@link #next} is filled. */
  void filled() {
    count++;
    if (count == packets.length) {
      packets = Arrays.copyOf(packets, 2 * count);
      fill(count);
    }
  }
}

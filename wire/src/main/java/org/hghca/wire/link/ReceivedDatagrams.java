package org.hghca.wire.link;

import java.lang.foreign.MemorySegment;
import org.hghca.linux.SystemCalls;
import org.hghca.wire.Packet;
import org.hghca.wire.frame.FrameDecoder;
import org.hghca.wire.frame.RestoredHeaders;

/**
 * Datagrams of a UDP socket that were received with one system call, of which the kernel may have
 * joined each from several: taken apart into packets as far as a batch has room, and the rest into
 * the batches that follow. Used by one thread at a time.
 */
final class ReceivedDatagrams {
  /** Datagrams that are received at once. */
  static final int SLOTS = 16;

  private static final int DONT_WAIT = 0x40;

  private final DatagramBatch datagrams = DatagramBatch.ofJoined(SLOTS);
  private final FrameDecoder decoder = FrameDecoder.ofRestored(datagrams.frames());

  /** Datagrams of the last read, and the one that is taken apart. */
  private int count;

  private int slot;

  /** Bytes and packets that were taken from it. */
  private int taken;

  private int number;

  // Where they were received.

  private boolean ipv4;
  private long destinationHigh;
  private long destinationLow;
  private LinkCounts counts;

  /**
   * Receives datagrams; those of the read before must all be taken.
   *
   * @param high the upper half of the address of the socket, as in {@link org.hghca.wire.IpAddress}
   * @param low the lower half
   * @param link counts the packets
   * @return the number of datagrams, 0 to {@link #SLOTS}
   */
  int read(SystemCalls linux, int socket, boolean isIpv4, long high, long low, LinkCounts link) {
    ipv4 = isIpv4;
    destinationHigh = high;
    destinationLow = low;
    counts = link;
    clear();
    datagrams.prepareToReceive();
    count = Math.max(0, linux.recvmmsg(socket, datagrams.messagesFrom(0), DONT_WAIT));
    return count;
  }

  /** Forgets what is not taken. */
  void clear() {
    count = 0;
    slot = 0;
    taken = 0;
    number = 0;
  }

  /** Takes packets until the batch is full or all are taken. */
  void take(ReceiveBatch batch) {
    while (slot < count && !batch.isFull()) {
      takePacket(batch);
      if (taken >= datagrams.length(slot)) {
        slot++;
        taken = 0;
        number = 0;
      }
    }
  }

  private void takePacket(ReceiveBatch batch) {
    Packet packet = batch.next();
    packet.destinationIpHigh = destinationHigh;
    packet.destinationIpLow = destinationLow;
    int left = datagrams.length(slot) - taken;
    int segment = datagrams.describe(slot, ipv4, packet);
    int length = segment == 0 ? left : Math.min(segment, left);
    packet.identification = number++;
    int begin = datagrams.datagram(slot) + taken;
    taken += length;
    // The headers are written over the end of the datagram before, which is taken.
    MemorySegment frames = datagrams.frames();
    int frame = RestoredHeaders.write(frames, begin, length, ipv4, packet);
    if (decoder.decode(RestoredHeaders.frame(begin, ipv4), frame, packet)) {
      counts.received();
      batch.filled();
    } else {
      counts.dropped(decoder.cause());
    }
  }
}

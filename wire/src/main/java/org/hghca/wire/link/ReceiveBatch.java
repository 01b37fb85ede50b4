package org.hghca.wire.link;

import java.util.Arrays;
import java.util.function.Function;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketPool;
import org.hghca.wire.PacketRun;

/**
 * Packets that have come by a link and are delivered together, and the native buffers of datagrams
 * from which they are taken. The poller's thread has one for all links; a link that other threads
 * read has one more for these. Used by one thread at a time.
 */
public final class ReceiveBatch {
  /** Packets that it has at most, whatever a sender joins. */
  static final int SIZE = 64;

  private final Packet[] packets = new Packet[SIZE];
  private final ReceivedDatagrams datagrams = new ReceivedDatagrams();
  private int count;
  private Function<PacketRun, PacketRun.Outcome> runs = ReceiveBatch::refuse;
  private boolean isCut;

  public ReceiveBatch() {
    PacketPool pool = new PacketPool();
    Arrays.setAll(packets, any -> pool.take());
  }

  private static PacketRun.Outcome refuse(PacketRun run) {
    return PacketRun.Outcome.REFUSED;
  }

  /**
   * Passes runs of packets on as they come, before the packets that came before them are taken from
   * here.
   */
  public void passRunsTo(Function<PacketRun, PacketRun.Outcome> taker) {
    runs = taker;
  }

  /** Passes a run on; where it must wait, this batch {@link #isCut}. */
  PacketRun.Outcome pass(PacketRun run) {
    PacketRun.Outcome outcome = count > 0 ? PacketRun.Outcome.LATER : runs.apply(run);
    isCut |= outcome == PacketRun.Outcome.LATER;
    return outcome;
  }

  /** Something has come that is not in here, since it must wait for what is, or found no room. */
  void cut() {
    isCut = true;
  }

  /** Whether the link must be read again after what is in here was taken. */
  public boolean isCut() {
    return isCut;
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

  ReceivedDatagrams datagrams() {
    return datagrams;
  }

  /** Before the next link is read. */
  public void clear() {
    count = 0;
    isCut = false;
    datagrams.clear();
  }

  /**
   * Continues with the packets that found no room, after the others were delivered.
   *
   * @return whether there were any
   */
  public boolean refill() {
    count = 0;
    datagrams.take(this);
    return count > 0;
  }

  boolean isFull() {
    return count == SIZE;
  }

  /** The packet to fill next; there is one unless it {@link #isFull}. */
  public Packet next() {
    return packets[count];
  }

  /** The packet that was {@link #next} is filled. */
  public void filled() {
    count++;
    isCut |= isFull();
  }
}

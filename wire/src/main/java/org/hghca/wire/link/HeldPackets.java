package org.hghca.wire.link;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Consumer;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketPool;

/**
 * Packets that wait until the MAC of their destination is known, for each neighbor in their order.
 * A neighbor that never answers takes no room from the others until all of it is used. Used by the
 * thread that sends.
 */
final class HeldPackets {
  /** The most packets for one neighbor: two connections' windows of 128. */
  static final int MOST_OF_ONE = 256;

  /** The most packets in all. */
  static final int MOST = 4 * MOST_OF_ONE;

  /** How long they wait for a neighbor. */
  private static final long PATIENCE = 3 * AddressResolution.INTERVAL;

  /** What becomes of the packets of a neighbor; the callee does not keep them. */
  interface Destiny {
    /** The MAC of a neighbor, which is requested if need be; 0 while it is unknown. */
    long resolve(long high, long low);

    /** The MAC of its neighbor is known. */
    void send(Packet packet, long mac);

    /** Its neighbor has not answered. */
    void giveUp(Packet packet);
  }

  /** The packets of a neighbor, when to request it again, and until when they wait. */
  private static final class Queue {
    final ArrayDeque<Packet> packets = new ArrayDeque<>();
    final long high;
    final long low;
    final long until;
    long due;

    Queue(long high, long low, long now) {
      this.high = high;
      this.low = low;
      due = now + AddressResolution.INTERVAL;
      until = now + PATIENCE;
    }
  }

  /** Of few neighbors: a search, which is done for each sent packet, allocates nothing. */
  private final List<Queue> queues = new ArrayList<>();

  private final PacketPool pool = new PacketPool();
  private int count;

  boolean isEmpty() {
    return count == 0;
  }

  /** Whether packets wait for a neighbor, which the next ones must not overtake. */
  boolean holdsFor(long high, long low) {
    return count > 0 && find(high, low) != null;
  }

  private Queue find(long high, long low) {
    for (int i = 0; i < queues.size(); i++) {
      Queue queue = queues.get(i);
      if (queue.high == high && queue.low == low) {
        return queue;
      }
    }
    return null;
  }

  /**
   * Keeps a copy of a packet.
   *
   * @param now by {@link System#nanoTime}, as for all methods here
   * @return whether there was room
   */
  boolean hold(Packet packet, long now) {
    Queue queue = find(packet.destinationIpHigh, packet.destinationIpLow);
    if (count == MOST || queue != null && queue.packets.size() == MOST_OF_ONE) {
      return false;
    }
    if (queue == null) {
      queue = new Queue(packet.destinationIpHigh, packet.destinationIpLow, now);
      queues.add(queue);
    }
    queue.packets.add(pool.copy(packet));
    count++;
    return true;
  }

  /** Passes on the packets whose neighbor is known, or has not answered for too long. */
  void release(long now, Destiny destiny) {
    Iterator<Queue> all = queues.iterator();
    while (all.hasNext()) {
      Queue queue = all.next();
      long mac = destiny.resolve(queue.high, queue.low);
      if (mac != 0) {
        empty(queue, packet -> destiny.send(packet, mac));
        all.remove();
      } else if (now - queue.until >= 0) {
        empty(queue, destiny::giveUp);
        all.remove();
      } else if (now - queue.due >= 0) {
        queue.due = now + AddressResolution.INTERVAL;
      }
    }
  }

  /** Gives up all packets. */
  void clear(Consumer<Packet> giveUp) {
    queues.forEach(queue -> empty(queue, giveUp));
    queues.clear();
  }

  private void empty(Queue queue, Consumer<Packet> destiny) {
    while (!queue.packets.isEmpty()) {
      Packet packet = queue.packets.remove();
      count--;
      destiny.accept(packet);
      pool.giveBack(packet);
    }
  }

  /** When {@link #release} is due; {@link Long#MAX_VALUE} when nothing waits. */
  long due() {
    long first = Long.MAX_VALUE;
    for (Queue queue : queues) {
      first = Math.min(first, queue.due);
    }
    return first;
  }
}

package org.hghca.wire.link;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
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

  private record Neighbor(long high, long low) {}

  /** The packets of a neighbor, when to request it again, and until when they wait. */
  private static final class Queue {
    final ArrayDeque<Packet> packets = new ArrayDeque<>();
    final long until;
    long due;

    Queue(long now) {
      due = now + AddressResolution.INTERVAL;
      until = now + PATIENCE;
    }
  }

  private final Map<Neighbor, Queue> queues = new LinkedHashMap<>();
  private final PacketPool pool = new PacketPool();
  private int count;

  boolean isEmpty() {
    return count == 0;
  }

  /** Whether packets wait for a neighbor, which the next ones must not overtake. */
  boolean holdsFor(long high, long low) {
    return count > 0 && queues.containsKey(new Neighbor(high, low));
  }

  /**
   * Keeps a copy of a packet.
   *
   * @param now by {@link System#nanoTime}, as for all methods here
   * @return whether there was room
   */
  boolean hold(Packet packet, long now) {
    Neighbor to = new Neighbor(packet.destinationIpHigh, packet.destinationIpLow);
    Queue queue = queues.get(to);
    if (count == MOST || queue != null && queue.packets.size() == MOST_OF_ONE) {
      return false;
    }
    if (queue == null) {
      queue = new Queue(now);
      queues.put(to, queue);
    }
    queue.packets.add(pool.copy(packet));
    count++;
    return true;
  }

  /** Passes on the packets whose neighbor is known, or has not answered for too long. */
  void release(long now, Destiny destiny) {
    Iterator<Map.Entry<Neighbor, Queue>> all = queues.entrySet().iterator();
    while (all.hasNext()) {
      Map.Entry<Neighbor, Queue> next = all.next();
      Queue queue = next.getValue();
      long mac = destiny.resolve(next.getKey().high, next.getKey().low);
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
    queues.values().forEach(queue -> empty(queue, giveUp));
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
    for (Queue queue : queues.values()) {
      first = Math.min(first, queue.due);
    }
    return first;
  }
}

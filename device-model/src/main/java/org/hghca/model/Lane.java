package org.hghca.model;

import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketPool;
import org.hghca.wire.PacketRun;

/** One direction of a cable, or a way to a port. Used under its simulation's lock. */
final class Lane {
  /** The maximum number of packets that overtake one that is held back for reordering. */
  private static final int MOST_OVERTAKING = 4;

  /** How long it waits for them, in nanoseconds: less than any time-out in use. */
  private static final long PATIENCE = 10_000;

  private static final Comparator<Late> BY_TIME =
      Comparator.comparingLong(Late::due).thenComparingLong(Late::number);

  /** A packet that is due at a time; the number keeps packets with the same time in order. */
  private record Late(Packet packet, long due, long number) {}

  /** A packet that is due after a given number of packets, or at a time. */
  private record Held(Packet packet, long due, long behind) {}

  private final Clock clock;
  private final PacketPool packets;
  private final PriorityQueue<Late> late = new PriorityQueue<>(BY_TIME);

  /** In the order in which they were held back, which is also that of their times. */
  private final ArrayDeque<Held> held = new ArrayDeque<>();

  /** The port at its end; null while no plug is in. */
  private EthernetPort end;

  private Disturbance disturbance = Disturbance.NONE;
  private boolean quiet = true;
  private SplittableRandom random = new SplittableRandom(0);

  private long carried;
  private long runs;
  private long dropped;
  private long duplicated;
  private long reordered;
  private long delayed;
  private long corrupted;

  Lane(Clock clock, PacketPool packets) {
    this.clock = clock;
    this.packets = packets;
  }

  EthernetPort end() {
    return end;
  }

  /** Sets the port at its end, or null for none: then all packets in flight are dropped. */
  void end(EthernetPort port) {
    end = port;
    releaseAll();
  }

  /** Packets in flight arrive before anything changes. */
  void disturb(Disturbance by, long seed) {
    releaseAll();
    disturbance = by;
    quiet = by.isNone();
    random = new SplittableRandom(seed);
  }

  CableCounters counters() {
    return new CableCounters(carried, dropped, duplicated, reordered, delayed, corrupted);
  }

  /** Runs of packets that have passed; their packets count as carried. */
  long runs() {
    return runs;
  }

  void carry(Packet packet) {
    carried++;
    if (quiet) {
      deliver(packet);
      return;
    }
    if (happens(disturbance.duplicate())) {
      duplicated++;
      disturb(packets.copy(packet));
    }
    disturb(packet);
    releaseOvertaken();
  }

  /** Whether runs of packets to an address pass as they are. */
  boolean passesRuns(long destinationMac) {
    return quiet && end != null && end.takesRuns(destinationMac);
  }

  /** Carries a run of packets that may pass; returns whether its end has taken it. */
  boolean carry(PacketRun run) {
    boolean taken = end.deliver(run);
    if (taken) {
      carried += run.packets;
      runs++;
    }
    return taken;
  }

  private void disturb(Packet packet) {
    if (happens(disturbance.drop())) {
      dropped++;
      packets.giveBack(packet);
      return;
    }
    if (happens(disturbance.corrupt())) {
      // Packets have no bytes for the invariant CRC, which detects every flipped bit: a mark
      // represents a wrong CRC.
      corrupted++;
      packet.damaged = true;
    }
    if (happens(disturbance.reorder())) {
      reordered++;
      long behind = carried + 1 + random.nextInt(MOST_OVERTAKING);
      held.add(new Held(packet, clock.nanos() + PATIENCE, behind));
    } else if (happens(disturbance.delay())) {
      delayed++;
      long time = 1 + random.nextLong(disturbance.maxDelay().toNanos());
      late.add(new Late(packet, clock.nanos() + time, carried));
    } else {
      deliver(packet);
    }
  }

  private boolean happens(double rate) {
    return rate > 0 && random.nextDouble() < rate;
  }

  private void releaseOvertaken() {
    for (int left = held.size(); left > 0; left--) {
      Held first = held.remove();
      if (first.behind <= carried) {
        deliver(first.packet);
      } else {
        held.add(first);
      }
    }
  }

  /** Delivers what has fallen due; returns whether there was anything. */
  boolean step(long now) {
    boolean worked = false;
    while (!held.isEmpty() && held.peek().due <= now) {
      deliver(held.remove().packet);
      worked = true;
    }
    while (!late.isEmpty() && late.peek().due <= now) {
      deliver(late.remove().packet);
      worked = true;
    }
    return worked;
  }

  long nextDeadline() {
    long next = held.isEmpty() ? Long.MAX_VALUE : held.peek().due;
    return late.isEmpty() ? next : Math.min(next, late.peek().due);
  }

  private void releaseAll() {
    while (!held.isEmpty()) {
      deliver(held.remove().packet);
    }
    while (!late.isEmpty()) {
      deliver(late.remove().packet);
    }
  }

  private void deliver(Packet packet) {
    if (end == null) {
      packets.giveBack(packet);
    } else {
      end.deliver(packet);
    }
  }
}

package org.hghca.model.transport;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.random.RandomGenerator;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.Medium;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketPool;
import org.hghca.wire.PacketRun;

/** Two stations and a line between them that can lose, duplicate, reorder and delay packets. */
final class Line implements Medium {
  static final long A = 0x0200_0000_0001L;
  static final long B = 0x0200_0000_0002L;

  /** A packet as seen on the line. */
  record Seen(long to, int opcode, int psn, int syndrome, int length, boolean ackRequest) {}

  /** A packet that arrives with the one of a number. */
  private record Late(Packet packet, EthernetPort to, int due) {}

  /** A packet that arrives at a time. */
  private record Delayed(Packet packet, EthernetPort to, long due) {}

  /** Packets that a queue pair may send in a turn. */
  static final int BURST = 32;

  private static final int MOST_LATE = 300;

  final PacketPool pool = new PacketPool();
  final Station a;
  final Station b;
  final List<Seen> seen = new ArrayList<>();
  long now;

  /** Whether it says that it loses packets; for queue pairs that leave RESET after it was set. */
  boolean losesPackets;

  /** Whether runs of packets pass while nothing disturbs the line. */
  boolean passesRuns;

  /** Runs that were taken. */
  int runs;

  /** Whether it takes packets; those that it gets nevertheless are carried. */
  boolean room = true;

  /** Decides by the number of each packet, from 0 on, whether it is lost. */
  IntPredicate loses = number -> false;

  RandomGenerator random;
  double lossRate;
  double doubleRate;
  double disorderRate;

  /**
   * The number of packets that are late by up to {@link #MOST_LATE} others, whatever time has
   * passed.
   */
  double lateRate;

  /** How long a packet takes, in nanoseconds; {@link #pass} ends with each arrival, too. */
  long delay;

  private final Deque<Delayed> delayed = new ArrayDeque<>();

  private final List<Late> late = new ArrayList<>();
  private Packet held;
  private EthernetPort heldFor;
  private int count;
  private boolean keepsLog = true;

  Line() {
    this(Service.RC);
  }

  Line(Service service) {
    this(service, BURST);
  }

  Line(Service service, int burst) {
    a = new Station(service, A, B, pool, burst);
    b = new Station(service, B, A, pool, burst);
    a.port.plug(this);
    b.port.plug(this);
  }

  /** Makes the line lossy. */
  Line hostile(RandomGenerator source, double loss, double doubles, double disorder) {
    random = source;
    lossRate = loss;
    doubleRate = doubles;
    disorderRate = disorder;
    keepsLog = false;
    return this;
  }

  /** Makes the line perfect again; packets in flight arrive. */
  void calm() {
    random = null;
    release();
    releaseLate(Integer.MAX_VALUE);
    keepsLog = true;
  }

  @Override
  public boolean isUp() {
    return true;
  }

  @Override
  public boolean hasRoom() {
    return room;
  }

  @Override
  public boolean losesPackets() {
    return losesPackets;
  }

  @Override
  public int longestRun(EthernetPort from, long destinationMac, long ipHigh, long ipLow) {
    boolean passes =
        passesRuns
            && random == null
            && held == null
            && late.isEmpty()
            && delayed.isEmpty()
            && other(from).takesRuns(destinationMac);
    return passes ? Integer.MAX_VALUE : 0;
  }

  @Override
  public boolean carry(EthernetPort from, PacketRun run) {
    boolean taken = other(from).deliver(run);
    if (taken) {
      runs++;
    }
    return taken;
  }

  private EthernetPort other(EthernetPort from) {
    return from == a.port ? b.port : a.port;
  }

  @Override
  public void carry(EthernetPort from, Packet packet) {
    EthernetPort to = other(from);
    if (keepsLog) {
      seen.add(
          new Seen(
              packet.destinationMac,
              packet.opcode,
              packet.psn,
              packet.syndrome,
              packet.length,
              packet.ackRequest));
    }
    if (loses.test(count++) || random != null && random.nextDouble() < lossRate) {
      pool.giveBack(packet);
      return;
    }
    if (random != null && random.nextDouble() < doubleRate) {
      carryOnce(pool.copy(packet), to);
    }
    carryOnce(packet, to);
  }

  private void carryOnce(Packet packet, EthernetPort to) {
    releaseLate(count);
    if (random != null && random.nextDouble() < lateRate) {
      late.add(new Late(packet, to, count + random.nextInt(MOST_LATE)));
      return;
    }
    if (random != null && held == null && random.nextDouble() < disorderRate) {
      held = packet;
      heldFor = to;
      return;
    }
    if (delay > 0) {
      delayed.add(new Delayed(packet, to, now + delay));
    } else {
      to.deliver(packet);
    }
    release();
  }

  private void releaseDelayed() {
    while (!delayed.isEmpty() && delayed.peek().due <= now) {
      Delayed due = delayed.remove();
      due.to.deliver(due.packet);
    }
  }

  private void releaseLate(int upTo) {
    for (int i = late.size() - 1; i >= 0; i--) {
      if (late.get(i).due <= upTo) {
        Late due = late.remove(i);
        due.to.deliver(due.packet);
      }
    }
  }

  private void release() {
    if (held != null) {
      Packet late = held;
      held = null;
      heldFor.deliver(late);
    }
  }

  /** Runs until nothing more happens at the current time. */
  void run() {
    boolean worked = true;
    while (worked) {
      worked = a.step(now);
      worked |= b.step(now);
      if (!worked && held != null) {
        release();
        worked = true;
      }
    }
  }

  /** Advances time to the next timer; returns whether there was one. */
  boolean pass() {
    run();
    long next = Math.min(a.transport.nextDeadline(), b.transport.nextDeadline());
    next = delayed.isEmpty() ? next : Math.min(next, delayed.peek().due);
    if (next == Long.MAX_VALUE) {
      boolean hasLate = !late.isEmpty();
      releaseLate(Integer.MAX_VALUE);
      run();
      return hasLate;
    }
    now = Math.max(now, next);
    releaseDelayed();
    run();
    return true;
  }

  List<Integer> psnsTo(long mac) {
    return seen.stream().filter(p -> p.to() == mac).map(Seen::psn).toList();
  }

  List<Integer> syndromesTo(long mac) {
    return seen.stream()
        .filter(p -> p.to() == mac && p.opcode() == 0x11)
        .map(Seen::syndrome)
        .toList();
  }
}

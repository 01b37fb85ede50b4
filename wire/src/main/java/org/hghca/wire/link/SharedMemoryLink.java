package org.hghca.wire.link;

import java.io.IOException;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SystemCalls;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketRun;
import org.hghca.wire.PortAddresses;
import org.hghca.wire.link.LinkException.Reason;
import org.hghca.wire.shm.Members;
import org.hghca.wire.shm.Receiver;

/**
 * Shared memory with the members of a medium: processes of the same user on this machine. Nothing
 * is lost, and a member that polls needs no system call.
 */
final class SharedMemoryLink implements Link, Receiver {
  private static final String NAMES = "[A-Za-z0-9][A-Za-z0-9._-]{0,31}";

  private final String name;
  private final Members members;
  private final PortAddresses addresses;
  private final LinkCounts counts = new LinkCounts();

  /** After so many events for what is in a ring, it looks for members that come or go, too. */
  private static final int MOST_EVENTS = 16;

  /** Whether a descriptor had an event that was not looked after. */
  private volatile boolean woken;

  /** Events for what is in a ring, since it has looked for members that come or go. */
  private int ringEvents;

  /** Where packets are put while the link is read. */
  private ReceiveBatch batch;

  /**
   * Joins a medium.
   *
   * @throws LinkException with the fix
   */
  SharedMemoryLink(SystemCalls linux, String name, LinkOptions options) {
    if (!name.matches(NAMES)) {
      throw new LinkException(
          Reason.INVALID,
          "shm:%s: a name has up to 32 letters, digits, '.', '_' and '-', first a letter or a digit"
              .formatted(name));
    }
    this.name = name;
    this.addresses = options.addresses().withLinkLocal(options.mac());
    try {
      members = new Members(linux, name, options.mac(), addresses, options.ring());
    } catch (IOException e) {
      throw new LinkException(
          e.getMessage().contains(LinuxErrno.EACCES.name()) ? Reason.NO_PERMISSION : Reason.SYSTEM,
          "shm:%s: %s".formatted(name, e.getMessage()));
    }
  }

  @Override
  public String description() {
    return "shared memory %s, path MTU %d".formatted(name, pathMtu());
  }

  @Override
  public boolean takesMonitors() {
    return false;
  }

  @Override
  public int pathMtu() {
    return Packet.MAX_PAYLOAD;
  }

  @Override
  public PortAddresses addresses() {
    return addresses;
  }

  @Override
  public boolean isUp() {
    return true;
  }

  @Override
  public boolean hasRoom() {
    return members.hasRoom();
  }

  @Override
  public boolean losesPackets() {
    return false;
  }

  /** A receiver that sleeps is woken once. */
  @Override
  public boolean sendsTogether() {
    return true;
  }

  @Override
  public int window() {
    return 256;
  }

  @Override
  public void send(Packet packet) {
    if (members.send(packet)) {
      counts.sent(1);
    } else {
      boolean known = members.reaches(packet.destinationIpHigh, packet.destinationIpLow);
      counts.notSent(known ? SendFailure.REFUSED : SendFailure.NO_ADDRESS);
    }
  }

  @Override
  public int longestRun(long high, long low) {
    return members.longestRun(high, low);
  }

  @Override
  public boolean send(PacketRun run) {
    boolean sent = members.send(run);
    if (sent) {
      counts.sent(run.packets);
    }
    return sent;
  }

  @Override
  public void flush() {
    members.flush();
  }

  @Override
  public void flushSoon() {
    members.flushSoon();
  }

  /** Packets to groups go to all members. */
  @Override
  public boolean join(long high, long low) {
    return true;
  }

  @Override
  public void leave(long high, long low) {
    // The port no longer takes them.
  }

  @Override
  public LinkCounters counters() {
    return counts.snapshot();
  }

  @Override
  public void open(LinkWatch watch) {
    watch.add(members.event(), LinkWatch.READABLE);
    watch.add(members.meetings(), LinkWatch.READABLE);
  }

  @Override
  public void woken() {
    woken = true;
  }

  @Override
  public boolean sleeps() {
    return true;
  }

  @Override
  public boolean sleep() {
    return members.sleep();
  }

  @Override
  public boolean hasEvents() {
    return members.isAsleep();
  }

  @Override
  public boolean mayHaveReceived() {
    return woken || members.hasMore() || members.needsFlush();
  }

  @Override
  public void receive(ReceiveBatch into) {
    if (woken) {
      woken = false;
      if (!members.wakeUp() || ++ringEvents == MOST_EVENTS) { // else the event was for that
        ringEvents = 0;
        members.attend();
      }
    }
    batch = into;
    if (members.receive(this)) {
      into.cut();
    }
  }

  @Override
  public Packet packet() {
    return batch.isFull() ? null : batch.next();
  }

  @Override
  public void take(Packet packet) {
    batch.filled();
    counts.received();
  }

  @Override
  public PacketRun.Outcome take(PacketRun run) {
    PacketRun.Outcome outcome = batch.pass(run);
    if (outcome == PacketRun.Outcome.TAKEN) {
      counts.received(run.packets);
    }
    return outcome;
  }

  @Override
  public void close() {
    members.close();
  }
}

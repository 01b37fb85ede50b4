package org.hghca.model;

import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.hghca.vfio.EmulatedFunction;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.IpAddress;
import org.hghca.wire.Medium;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;
import org.hghca.wire.PacketRun;
import org.hghca.wire.PortAddresses;
import org.hghca.wire.link.Attachment;
import org.hghca.wire.link.Link;
import org.hghca.wire.link.LinkCounters;
import org.hghca.wire.link.LinkPoller;
import org.hghca.wire.link.LinkUser;
import org.hghca.wire.link.ReceiveBatch;

/**
 * The connection of an HCA's port to a network outside of this process. Used under the lock of the
 * simulation, except the methods that the poller calls.
 */
final class Network implements Medium, LinkUser, CallerRuns.Arrival {
  /** A look that takes a system call takes as long as some ten polls that find nothing. */
  private static final int SYSTEM_CALL_EVERY = EmulatedFunction.IDLE_EVERY / 8;

  private final Link link;
  private final Participant participant;
  private final EthernetPort port;
  private final PortAddresses addresses;
  private final CallerRuns callerRuns;
  private final Lane incoming;
  private final Function<PacketRun, PacketRun.Outcome> taker = this::take;

  /** Set once, by {@link #begin}. */
  private volatile Attachment attachment;

  private final LookBeforeSleep looking =
      LookBeforeSleep.spinning(Runtime.getRuntime().availableProcessors());
  private final LookBeforeSleep sleeping = LookBeforeSleep.sleeping();
  private boolean up;

  /** What the link is read into, and whether it has more than was taken; used under the lock. */
  private ReceiveBatch reading;

  private boolean hasMore;

  /** Whether a thread that polls reads it. */
  private boolean polled;

  /** Whether an acknowledgement waits for the next read, or for what the program sends before. */
  private volatile boolean owing;

  /**
   * How many packets, and runs of packets, have come since it began to read, besides
   * acknowledgements: these often come with a message.
   */
  private int came;

  /**
   * Makes it the medium of a port.
   *
   * @param disturbance of the packets that arrive
   * @param participant whose port it is
   * @param callerRuns what follows an arrival
   */
  Network(
      Link link,
      Disturbance disturbance,
      Participant participant,
      EthernetPort port,
      Clock clock,
      CallerRuns callerRuns) {
    this.link = link;
    this.participant = participant;
    this.port = port;
    this.addresses = link.addresses();
    this.callerRuns = callerRuns;
    this.up = link.isUp();
    incoming = new Lane(clock, port.pool());
    incoming.end(port);
    incoming.disturb(disturbance, disturbance.seed());
    port.plug(this);
  }

  /** Starts receiving. Under no lock. */
  void begin() {
    attachment = LinkPoller.shared().add(link, this);
  }

  @Override
  public boolean isUp() {
    return link.isUp();
  }

  @Override
  public boolean hasRoom() {
    return link.hasRoom();
  }

  /** Whether a step may take a monitor of the link. */
  boolean takesMonitors() {
    return link.takesMonitors();
  }

  @Override
  public int pathMtu() {
    return link.pathMtu();
  }

  @Override
  public int window() {
    return link.window();
  }

  @Override
  public boolean losesPackets() {
    return link.losesPackets();
  }

  @Override
  public int longestRun(EthernetPort from, long destinationMac, long ipHigh, long ipLow) {
    return addresses.has(ipHigh, ipLow) ? 0 : link.longestRun(ipHigh, ipLow);
  }

  @Override
  public boolean carry(EthernetPort from, PacketRun run) {
    return link.send(run);
  }

  @Override
  public boolean hasDelivered(long time) {
    Attachment present = attachment;
    return present == null || present.hasDelivered(time);
  }

  /** Who polls and has got one message often answers it. */
  @Override
  public boolean sendsSoon() {
    return polled && came == 1 && link.sendsTogether();
  }

  @Override
  public void holds() {
    owing = true;
  }

  @Override
  public boolean isOwing() {
    return owing;
  }

  @Override
  public boolean findsNeighbors() {
    return true;
  }

  @Override
  public boolean sendsFrom(long high, long low) {
    return addresses.count() == 0 || addresses.has(high, low); // a link of frames has none
  }

  @Override
  public boolean join(long high, long low) {
    return link.join(high, low);
  }

  @Override
  public void leave(long high, long low) {
    link.leave(high, low);
  }

  /**
   * Sends a packet with the next {@link #flush}; one to an own address of the port is delivered.
   */
  @Override
  public void carry(EthernetPort from, Packet packet) {
    if (!packet.plain
        && (packet.destinationMac == from.mac()
            || addresses.has(packet.destinationIpHigh, packet.destinationIpLow))) {
      packet.destinationMac = from.mac();
      from.deliver(packet);
    } else {
      link.send(packet);
      from.pool().giveBack(packet);
    }
  }

  void flush() {
    if (polled) {
      link.flushSoon(); // the answer of the one who polls may leave with it
    } else {
      owing = false;
      link.flush();
    }
  }

  /** Delivers delayed packets that are due; returns whether there were any. */
  boolean step(long now) {
    return incoming.step(now);
  }

  long nextDeadline() {
    return incoming.nextDeadline();
  }

  @Override
  public boolean read(Link from, ReceiveBatch batch, boolean waits) {
    reading = batch;
    polled = !waits;
    came = 0;
    owing = false;
    try {
      return callerRuns.arrived(participant, this, waits);
    } finally {
      polled = false;
    }
  }

  @Override
  public boolean sleep(Link from) {
    return callerRuns.exclusively(from::sleep);
  }

  /** Takes what has come, as much as one batch holds. */
  @Override
  public boolean receive() {
    ReceiveBatch batch = reading;
    if (!hasMore) {
      batch.clear();
      batch.passRunsTo(taker);
      link.receive(batch);
    }
    arrived(batch);
    hasMore = batch.refill();
    return hasMore || batch.isCut();
  }

  /** A run has come, before which everything was taken. */
  private PacketRun.Outcome take(PacketRun run) {
    came++;
    if (port.hasArrived()) {
      return PacketRun.Outcome.LATER;
    }
    return incoming.passesRuns(run.first.destinationMac) && incoming.carry(run)
        ? PacketRun.Outcome.TAKEN
        : PacketRun.Outcome.REFUSED;
  }

  @Override
  public void arrived(ReceiveBatch batch) {
    for (int i = 0; i < batch.count(); i++) {
      take(batch.exchange(i, port.pool().take()));
    }
    if (up != link.isUp()) {
      up = !up;
      participant.watchPort();
    }
    if (!link.hasRoom()) {
      link.flush(); // there may be room now for what the steps that follow send
    }
  }

  private void take(Packet packet) {
    if (packet.plain || packet.opcode != PacketOpcode.ACKNOWLEDGE) {
      came++;
    }
    if (packet.plain) {
      incoming.carry(packet);
      return;
    }
    boolean toGroup = IpAddress.isGroup(packet.destinationIpHigh, packet.destinationIpLow);
    if (toGroup && addresses.has(packet.sourceIpHigh, packet.sourceIpLow)) {
      port.pool().giveBack(packet); // the network returns what the port has delivered to itself
      return;
    }
    if (packet.destinationMac == 0) { // the link has none
      packet.destinationMac =
          toGroup
              ? IpAddress.groupMac(packet.destinationIpHigh, packet.destinationIpLow)
              : port.mac();
    }
    incoming.carry(packet);
  }

  LinkCounters counters() {
    return link.counters();
  }

  /** Reads on the calling thread. */
  void idle() {
    Attachment present = attachment;
    if (present != null) {
      present.read();
    }
  }

  /** Reads on the calling thread for a moment, and sleeps for what comes, where waits are short. */
  void beforeSleep(BooleanSupplier happened) {
    Attachment present = attachment;
    if (present == null) {
      return;
    }
    boolean found =
        !Thread.currentThread().isVirtual() // it would keep its carrier
            && (looks(present, happened) || sleeps(present, happened));
    if (!found) {
      sendWhatIsHeld(present);
      present.endPolling(); // it may have polled before, too
    }
  }

  private boolean looks(Attachment present, BooleanSupplier happened) {
    if (!looking.looks()) {
      return false;
    }
    long end = System.nanoTime() + LookBeforeSleep.LONGEST;
    present.beginPolling();
    do {
      present.read();
      if (happened.getAsBoolean()) {
        looking.found();
        return true;
      }
      Thread.onSpinWait();
    } while (System.nanoTime() - end < 0);
    looking.missed();
    return false;
  }

  private boolean sleeps(Attachment present, BooleanSupplier happened) {
    if (!sleeping.looks()) {
      return false;
    }
    long end = System.nanoTime() + LookBeforeSleep.LONGEST_SLEEP;
    do {
      sendWhatIsHeld(present);
      if (!present.sleep(happened)) {
        break;
      }
      present.read();
      if (happened.getAsBoolean()) {
        sleeping.found();
        return true;
      }
      Thread.yield(); // another thread may have what has come, and need the processor
    } while (System.nanoTime() - end < 0);
    sleeping.missed();
    return false;
  }

  /** The calling thread is going to sleep: it does not answer now. */
  private void sendWhatIsHeld(Attachment present) {
    if (owing) {
      present.read();
    }
  }

  /** What a thread in {@link #beforeSleep} waits for may have happened. */
  void happened() {
    Attachment present = attachment;
    if (present != null) {
      present.wakes();
    }
  }

  /** The calling thread reads again and again. */
  void beginPolling() {
    Attachment present = attachment;
    if (present != null) {
      present.beginPolling();
    }
  }

  /** The calling thread reads no more. */
  void endPolling() {
    Attachment present = attachment;
    if (present != null) {
      present.endPolling();
    }
  }

  /** A link that needs no system call is looked at with each poll, another one as often as pays. */
  int idleEvery() {
    return link.sleeps() ? 1 : SYSTEM_CALL_EVERY;
  }

  /** Ends the link, and waits until nothing arrives from it any longer. Under no lock. */
  void close() {
    attachment.close();
  }
}

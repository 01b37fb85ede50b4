package org.hghca.wire;

import java.util.Arrays;
import java.util.function.LongPredicate;

/**
 * An Ethernet port: transmits into its medium and queues received packets. Packets to its own
 * address, and to multicast groups that it has joined, are delivered without a medium. It drops
 * plain frames, as the port of an RDMA card does, until it is that of a NIC. Used by one thread.
 */
public final class EthernetPort {
  private static final long[] NO_GROUPS = {};

  private final long mac;
  private final PacketPool pool;
  private final PacketQueue arrived = new PacketQueue();
  private Medium medium;
  private PortTap tap = PortTap.NONE;
  private RunTaker taker = RunTaker.NONE;

  /** The multicast groups that the port has joined: their addresses' halves, in pairs. */
  private long[] groups = NO_GROUPS;

  /** Their Ethernet addresses, sorted; several groups may have the same. */
  private long[] groupMacs = NO_GROUPS;

  /** Of which destinations a NIC takes everything. */
  private LongPredicate everything = _ -> false;

  private long bytesSent;
  private long damaged;

  /**
   * @param mac the port's address, 48 bits
   * @param pool the pool for packets that are not accepted
   */
  public EthernetPort(long mac, PacketPool pool) {
    this.mac = mac;
    this.pool = pool;
  }

  public long mac() {
    return mac;
  }

  public PacketPool pool() {
    return pool;
  }

  /** Attaches the port to a medium, or detaches it with {@code null}. Its groups stay. */
  public void plug(Medium medium) {
    this.medium = medium;
    for (int i = 0; medium != null && i < groups.length; i += 2) {
      medium.join(groups[i], groups[i + 1]);
    }
  }

  /**
   * Joins a multicast group: packets to it are delivered, its own among them. The port must not be
   * in the group.
   *
   * @param high the upper half of the group's address, as in {@link IpAddress}
   * @param low the lower half
   * @return false when the network refuses it
   */
  public boolean join(long high, long low) {
    if (medium != null && !medium.join(high, low)) {
      return false;
    }
    long[] more = Arrays.copyOf(groups, groups.length + 2);
    more[groups.length] = high;
    more[groups.length + 1] = low;
    setGroups(more);
    return true;
  }

  /** Leaves a multicast group that was joined. */
  public void leave(long high, long low) {
    int at = 0;
    while (groups[at] != high || groups[at + 1] != low) {
      at += 2;
    }
    long[] fewer = Arrays.copyOf(groups, groups.length - 2);
    System.arraycopy(groups, at + 2, fewer, at, fewer.length - at);
    setGroups(fewer);
    if (medium != null) {
      medium.leave(high, low);
    }
  }

  private void setGroups(long[] all) {
    groups = all;
    long[] macs = new long[all.length / 2];
    for (int i = 0; i < macs.length; i++) {
      macs[i] = IpAddress.groupMac(all[2 * i], all[2 * i + 1]);
    }
    Arrays.sort(macs);
    groupMacs = macs;
  }

  /** Whether packets to an Ethernet address are for this port. */
  private boolean takes(long destination) {
    return destination == mac
        || groupMacs.length > 0 && Arrays.binarySearch(groupMacs, destination) >= 0;
  }

  private boolean takes(Packet packet) {
    return !packet.plain && takes(packet.destinationMac) || everything.test(packet.destinationMac);
  }

  /**
   * Makes it the port of a NIC: it takes plain frames and packets to these Ethernet addresses, too.
   */
  public void takeEverything(LongPredicate to) {
    everything = to;
  }

  /** Passes all packets to a tap from now on; {@link PortTap#NONE} ends it. */
  public void tap(PortTap by) {
    tap = by;
  }

  /** Passes arriving runs of packets to what can execute them. */
  public void taker(RunTaker by) {
    taker = by;
  }

  /** Whether another port is at the other end of the medium. */
  public boolean isUp() {
    return medium != null && medium.isUp();
  }

  /** Whether the medium accepts packets now. */
  public boolean hasRoom() {
    return medium == null || medium.hasRoom();
  }

  /** The largest path MTU that the medium carries. */
  public int pathMtu() {
    return medium == null ? Packet.MAX_PAYLOAD : medium.pathMtu();
  }

  /** KiB that may be in flight to one address; see {@link Medium#window}. */
  public int window() {
    return medium == null ? Medium.DEFAULT_WINDOW : medium.window();
  }

  /** Whether the medium loses packets now and then. */
  public boolean losesPackets() {
    return medium != null && medium.losesPackets();
  }

  /** Whether an acknowledgement may wait for what is sent next; see {@link Medium#sendsSoon}. */
  public boolean sendsSoon() {
    return medium != null && medium.sendsSoon();
  }

  /** An acknowledgement waits for that. */
  public void holds() {
    if (medium != null) {
      medium.holds();
    }
  }

  /** Whether packets need no Ethernet address of their destination, as the medium finds it. */
  public boolean findsNeighbors() {
    return medium != null && medium.findsNeighbors();
  }

  /** Whether the medium carries packets from an IP address, in halves as {@link IpAddress} has. */
  public boolean sendsFrom(long high, long low) {
    return medium == null || medium.sendsFrom(high, low);
  }

  /** Sends a packet. The receiver owns it afterwards. */
  public void transmit(Packet packet) {
    bytesSent += packet.length;
    tap.sent(packet);
    if (packet.destinationMac == mac) {
      tap.received(packet);
      arrived.add(packet);
      return;
    }
    if (groupMacs.length > 0 && takes(packet.destinationMac)) {
      Packet copy = pool.copy(packet);
      tap.received(copy);
      arrived.add(copy);
    }
    if (medium != null) {
      medium.carry(this, packet);
    } else {
      pool.giveBack(packet);
    }
  }

  /**
   * The most bytes of a run of packets that may be sent to an address now, 0 for none; see {@link
   * Medium#longestRun}.
   */
  public int longestRun(long destinationMac, long ipHigh, long ipLow) {
    return tap.equals(PortTap.NONE) && destinationMac != mac && medium != null
        ? medium.longestRun(this, destinationMac, ipHigh, ipLow)
        : 0;
  }

  /** Whether it takes runs of packets to an address now: no packet waits, and no tap looks. */
  public boolean takesRuns(long destinationMac) {
    return tap.equals(PortTap.NONE) && destinationMac == mac && arrived.isEmpty();
  }

  /**
   * Sends a run of packets, which must be possible now.
   *
   * @return false when the packets must be sent one by one
   */
  public boolean transmit(PacketRun run) {
    boolean taken = medium.carry(this, run);
    if (taken) {
      bytesSent += run.bytes;
    }
    return taken;
  }

  /** A run of packets arrives from the medium; see {@link RunTaker#take}. */
  public boolean deliver(PacketRun run) {
    return taker.take(run);
  }

  /**
   * Sends a packet or a plain frame into the medium, even to an address of its own. The receiver
   * owns it afterwards.
   */
  public void transmitOut(Packet packet) {
    bytesSent += packet.length;
    tap.sent(packet);
    if (medium != null) {
      medium.carry(this, packet);
    } else {
      pool.giveBack(packet);
    }
  }

  /**
   * A packet arrives from the medium. Damaged packets and packets for another address are dropped.
   */
  public void deliver(Packet packet) {
    tap.received(packet);
    if (!packet.damaged && takes(packet)) {
      arrived.add(packet);
      return;
    }
    if (packet.damaged) {
      damaged++;
    }
    pool.giveBack(packet);
  }

  /** Bytes of payload that were sent. */
  public long bytesSent() {
    return bytesSent;
  }

  /** Number of damaged packets received. */
  public long damaged() {
    return damaged;
  }

  /** Whether a packet waits to be fetched. */
  public boolean hasArrived() {
    return !arrived.isEmpty();
  }

  /**
   * Whether every packet that had come by a time was fetched; where one was not, it soon can be.
   */
  public boolean hasFetched(long time) {
    return arrived.isEmpty() && (medium == null || medium.hasDelivered(time));
  }

  /** Fetches the oldest received packet; there must be one. */
  public Packet fetch() {
    return arrived.remove();
  }

  /** Drops all received packets. */
  public void drain() {
    while (!arrived.isEmpty()) {
      pool.giveBack(arrived.remove());
    }
  }
}

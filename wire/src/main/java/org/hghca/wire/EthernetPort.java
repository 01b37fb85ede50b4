package org.hghca.wire;

/**
 * An Ethernet port: transmits into its medium and keeps what arrives until it is fetched. Frames to
 * its own address come back without a medium. Used by one thread.
 */
public final class EthernetPort {
  private final long mac;
  private final PacketPool pool;
  private final PacketQueue arrived = new PacketQueue();
  private Medium medium;
  private PortTap tap = PortTap.NONE;
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

  /** Plugs the port into a medium, or unplugs it with {@code null}. */
  public void plug(Medium medium) {
    this.medium = medium;
  }

  /** Shows all packets to a tap from now on; {@link PortTap#NONE} ends it. */
  public void tap(PortTap by) {
    tap = by;
  }

  /** Whether another port is at the other end of the medium. */
  public boolean isUp() {
    return medium != null && medium.isUp();
  }

  /** Whether the medium takes packets now. */
  public boolean hasRoom() {
    return medium == null || medium.hasRoom();
  }

  /** The largest path MTU that the medium carries. */
  public int pathMtu() {
    return medium == null ? Packet.MAX_PAYLOAD : medium.pathMtu();
  }

  /** KiB that one connection may have in flight; see {@link Medium#window}. */
  public int window() {
    return medium == null ? Medium.DEFAULT_WINDOW : medium.window();
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
    } else if (medium != null) {
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
    if (packet.destinationMac == mac && !packet.damaged) {
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

  /** Fetches the oldest packet that arrived; there must be one. */
  public Packet fetch() {
    return arrived.remove();
  }

  /** Drops everything that arrived. */
  public void drain() {
    while (!arrived.isEmpty()) {
      pool.giveBack(arrived.remove());
    }
  }
}

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
  private long bytesSent;
  private long damaged;

  /**
   * @param mac the port's address, 48 bits
   * @param pool where packets go that nobody takes
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

  /** Whether there is somebody at the other end of the medium. */
  public boolean isUp() {
    return medium != null && medium.isUp();
  }

  /** Sends a packet off. It belongs to the receiver afterwards. */
  public void transmit(Packet packet) {
    bytesSent += packet.length;
    if (packet.destinationMac == mac) {
      arrived.add(packet);
    } else if (medium != null) {
      medium.carry(this, packet);
    } else {
      pool.giveBack(packet);
    }
  }

  /** A packet comes out of the medium. What is damaged or for another address is not taken. */
  public void deliver(Packet packet) {
    if (packet.destinationMac == mac && !packet.damaged) {
      arrived.add(packet);
      return;
    }
    if (packet.damaged) {
      damaged++;
    }
    pool.giveBack(packet);
  }

  /** Bytes of payload that were sent off. */
  public long bytesSent() {
    return bytesSent;
  }

  /** How many packets came damaged. */
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

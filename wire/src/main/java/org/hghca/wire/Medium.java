package org.hghca.wire;

/** The medium that a port is plugged into. */
public interface Medium {

  /** Whether another port is at the other end. */
  boolean isUp();

  /** Takes a packet over from a port: to another port, or back to the pool. */
  void carry(EthernetPort from, Packet packet);
}

package org.hghca.wire;

/** What a port is plugged into. */
public interface Medium {

  /** Whether somebody is at the other end. */
  boolean isUp();

  /** Takes a packet over from a port: to another port, or back to the pool. */
  void carry(EthernetPort from, Packet packet);
}

package org.hghca.sockets;

/** A channel that a selector of ours takes. */
interface Registered {
  /** Its keys. */
  Registrations registrations();

  /** What is ready without the platform: a set of {@link java.nio.channels.SelectionKey}'s bits. */
  int readyOps();

  /**
   * Names who is told when {@link #readyOps} may have changed.
   *
   * @param onChange or null for none
   */
  void watch(Runnable onChange);
}

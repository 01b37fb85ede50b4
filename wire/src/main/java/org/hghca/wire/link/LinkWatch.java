package org.hghca.wire.link;

/**
 * The descriptors and the deadline on which the poller waits for a link. Thread-safe, and never
 * blocks.
 */
public interface LinkWatch {
  /** Something can be read. */
  int READABLE = 1;

  /** Something can be written. */
  int WRITABLE = 4;

  /**
   * Waits on a descriptor from now on. A closed one is removed by itself.
   *
   * @param events {@link #READABLE}, {@link #WRITABLE}, both or 0
   */
  void add(int descriptor, int events);

  /**
   * Changes the awaited events.
   *
   * @param events as for {@link #add}
   */
  void change(int descriptor, int events);

  /** Stops waiting on a descriptor: one that has failed would wake the poller constantly. */
  void remove(int descriptor);

  /** Makes the poller read {@link Link#deadline} again, which is earlier than before. */
  void pollSoon();
}

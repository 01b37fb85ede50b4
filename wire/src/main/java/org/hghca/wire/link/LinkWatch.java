package org.hghca.wire.link;

/**
 * What the poller waits on for a link: descriptors and a deadline. Thread-safe, and never blocks.
 */
public interface LinkWatch {
  /** Something can be read. */
  int READABLE = 1;

  /** Something can be written. */
  int WRITABLE = 4;

  /**
   * Waits on a descriptor from now on. One that is closed is forgotten by itself.
   *
   * @param events {@link #READABLE}, {@link #WRITABLE}, both or 0
   */
  void add(int descriptor, int events);

  /**
   * Changes what is waited for.
   *
   * @param events as for {@link #add}
   */
  void change(int descriptor, int events);

  /** Waits on a descriptor no longer, as one that has failed would wake the poller for ever. */
  void remove(int descriptor);

  /** Has the poller look at {@link Link#deadline} again, which is earlier than it was. */
  void hurry();
}

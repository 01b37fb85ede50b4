package org.hghca.sockets;

import java.io.IOException;

/** A connect that is under way. Thread-safe. */
interface Attempt {
  boolean done();

  /**
   * Waits until it is done, or cancelled.
   *
   * @param deadline of {@link System#nanoTime}; {@link Long#MAX_VALUE} for none
   * @return false at the deadline
   */
  boolean await(long deadline);

  /** What has come of it, once; as the JDK throws it when nothing has. */
  Connected finish() throws IOException;

  void watch(Runnable onChange);

  void cancel();
}

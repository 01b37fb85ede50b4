package org.hghca.wire.link;

import java.util.function.BooleanSupplier;

/** A link that is read, until this is closed. */
public interface Attachment extends AutoCloseable {
  /**
   * Reads what has come on the calling thread, which waits for it anyway, and calls the user; does
   * nothing where another thread does so. While this is called again and again the poller's thread
   * leaves the link to the caller.
   */
  void read();

  /** The calling thread is going to {@link #read} again and again. */
  void beginPolling();

  /**
   * The calling thread has stopped, if it ever began: from now on the poller's thread reads the
   * link.
   */
  void endPolling();

  /**
   * Sleeps on the calling thread until something comes, another thread {@link #wakes} it, or a
   * moment has passed: in place of the poller's thread, which leaves the link to the caller
   * meanwhile. Returns at once where something has come.
   *
   * @param happened whether what the caller waits for has happened; asked once before it sleeps
   * @return false where another thread sleeps so, or none can
   */
  boolean sleep(BooleanSupplier happened);

  /** What a thread in {@link #sleep} waits for may have happened. Never waits. */
  void wakes();

  /**
   * Whether the user has got everything that had come by a time. Where it has not, the link is read
   * soon.
   *
   * @param time by {@link System#nanoTime}
   */
  boolean hasDelivered(long time);

  @Override
  void close();
}

package org.hghca.wire.link;

/** The owner of a link. */
public interface LinkUser {

  /**
   * Reads the link and takes what has come, under the lock under which the owner sends. Called by
   * the poller's thread, or by one that {@link Attachment#read reads} in its place.
   *
   * @param waits whether to wait for the lock; otherwise nothing is done where another thread has
   *     it
   * @return whether everything that had come was taken
   */
  default boolean read(Link link, ReceiveBatch batch, boolean waits) {
    batch.clear();
    link.receive(batch);
    boolean all = !batch.isFull();
    do {
      arrived(batch);
    } while (batch.refill());
    return all;
  }

  /**
   * Has the link wake the poller's thread for what comes, under the lock under which the owner
   * sends.
   *
   * @return false where something has come already
   */
  default boolean sleep(Link link) {
    return link.sleep();
  }

  /**
   * Whether {@link #read} is to be called soon although nothing has come; by any thread, to which
   * it is a hint.
   */
  default boolean isOwing() {
    return false;
  }

  /**
   * Packets have arrived, or there is room to send again, or the link has come up or gone down.
   * Called by the poller's thread, or by one that {@link Attachment#read reads} in its place; it
   * may wait for a lock, but only briefly, as all links wait with it.
   *
   * @param batch the packets; to take one, replace it by an empty one
   */
  void arrived(ReceiveBatch batch);
}

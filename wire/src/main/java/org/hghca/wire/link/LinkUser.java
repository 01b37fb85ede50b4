package org.hghca.wire.link;

/** The owner of a link. */
public interface LinkUser {

  /**
   * Packets have arrived, or there is room to send again, or the link has come up or gone down.
   * Called by the poller's thread, or by one that {@link LinkPoller.Attachment#read reads} in its
   * place; it may wait for a lock, but only briefly, as all links wait with it.
   *
   * @param batch the packets; to take one, replace it by an empty one
   */
  void arrived(ReceiveBatch batch);
}

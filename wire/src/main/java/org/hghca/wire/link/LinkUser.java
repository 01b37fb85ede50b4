package org.hghca.wire.link;

/** Who owns a link. */
public interface LinkUser {

  /**
   * Packets have come, or there is room to send again, or the link has come up or gone down. By the
   * poller's thread; it may wait for a lock, but as all links wait with it, not for long.
   *
   * @param batch the packets; who takes one puts an empty one in its place
   */
  void arrived(ReceiveBatch batch);
}

package org.hghca.wire.link;

/**
 * What carries whole Ethernet frames between a {@link FrameLink} and an interface of the kernel.
 * One thread at a time sends, and one, perhaps another, receives; nothing blocks.
 */
interface FrameCarrier {
  /** What it is, such as {@code packet eth0}. */
  String description();

  /** Bytes of the longest IP packet that the interface carries. */
  int mtu();

  /** Whether the interface is up and has a carrier. By any thread. */
  boolean isUp();

  /** Begins to receive. */
  void open(LinkWatch watch);

  /** Has the interface take frames to the MAC of a group; returns whether it does. */
  boolean join(long mac);

  /** Ends a {@link #join}. */
  void leave(long mac);

  /**
   * Sends frames.
   *
   * @param frames with the frames in {@code count} slots from {@code from} on
   * @return how many were sent, at least one; or the negative error number of the first
   */
  int send(DatagramBatch frames, int from, int count);

  /** Also waits until there is room to send, or no longer. */
  void awaitRoom(boolean wanted);

  /**
   * Takes what has come, as far as there is room for it. What is left, or what has changed in the
   * interface, makes the poller come again.
   */
  void receive(EthernetEnd end, ReceiveBatch batch);

  /** Gives everything back. */
  void close();
}

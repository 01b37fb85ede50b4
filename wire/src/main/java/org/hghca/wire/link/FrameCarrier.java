package org.hghca.wire.link;

import java.lang.foreign.MemorySegment;

/**
 * Carries whole Ethernet frames between a {@link FrameLink} and an interface of the kernel. One
 * thread at a time sends, and one, possibly another, receives; nothing blocks.
 */
interface FrameCarrier {
  /** What it is, such as {@code packet eth0}. */
  String description();

  /** Bytes of the longest IP packet that the interface carries. */
  int mtu();

  /** Whether the interface is up and has a carrier. By any thread. */
  boolean isUp();

  /** The memory into which frames are received. */
  MemorySegment incoming();

  /** Starts receiving. */
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
   * Reads received frames, as far as there is room. Remaining frames, or a change of the interface,
   * wake the poller again.
   */
  void receive(EthernetEnd end, ReceiveBatch batch);

  /** Releases all resources. */
  void close();
}

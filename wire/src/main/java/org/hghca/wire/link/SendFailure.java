package org.hghca.wire.link;

/** Why a link did not send a packet. */
public enum SendFailure {
  /** It has no IP addresses, or not those of the link's IP version. */
  NO_ADDRESS,

  /** A plain Ethernet frame: the link carries RoCE v2 only. */
  NOT_ROCE,

  /** It is longer than the path allows: the queue pair's path MTU is too large. */
  TOO_LONG,

  /** The system has no room for more until some has left. */
  BUFFER_FULL,

  /** The Ethernet address of the destination is not known yet. */
  UNRESOLVED,

  /** There is no peer at the other end. */
  DOWN,

  /** The system refuses to send it, for instance without a route. */
  REFUSED
}

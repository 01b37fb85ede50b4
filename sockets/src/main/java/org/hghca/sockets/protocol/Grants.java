package org.hghca.sockets.protocol;

/** What the peer is to be told of what was read. One thread at a time. */
public interface Grants {
  /** Whether a half was read since the last one was granted. */
  boolean isHalfDue();

  /** The half that was read is free again. */
  void grantHalf();

  /** Whether the peer is to be told of a new limit, half of all credits since the last time. */
  boolean isLimitDue();

  /** The limit that the peer is told, 16 bits. */
  int tellLimit();
}

package org.hghca.programs.pingpong;

import org.hghca.verbs.GlobalRouteHeader;
import org.hghca.verbs.QpType;

/** Which of the programs it is: {@code ibv_rc_pingpong} and the others. */
public enum Variant {
  RC(QpType.RC),
  UC(QpType.UC),
  UD(QpType.UD),
  /** Reliable connections that share a receive queue. */
  SRQ(QpType.RC);

  /** Bytes of a message before anything is sent: '{'. */
  private static final byte FILL = 0x7b;

  private final QpType type;

  Variant(QpType type) {
    this.type = type;
  }

  QpType type() {
    return type;
  }

  boolean shares() {
    return this == SRQ;
  }

  /** Where a message begins in the memory that it is received into. */
  int header() {
    return type == QpType.UD ? GlobalRouteHeader.LENGTH : 0;
  }

  /** How many addresses go each way, however many queue pairs there are. */
  int addresses() {
    return shares() ? 256 : 1;
  }

  byte fill() {
    return shares() ? 0 : FILL;
  }

  int hopLimit() {
    return type == QpType.UD ? 64 : 1;
  }

  /** A queue pair in a line about a failure. */
  String queuePair(int index) {
    return shares() ? "QP[%d]".formatted(index) : "QP";
  }

  /** What precedes the GID in the line of the own address. */
  String beforeOwnGid() {
    return this == UD ? ": " : ", ";
  }

  String cannotReadGid(int index) {
    return (this == RC || this == UC
            ? "can't read sgid of index %d"
            : "Could not get local gid for gid index %d")
        .formatted(index);
  }
}

package org.hghca.tools.perf.peers;

import java.util.List;

/** What is measured of a row. */
enum Work {
  /** Short messages there and back, and streams of long ones. */
  MESSAGES(8, List.of(1 << 16, Task.LARGEST)),
  /** Of sockets: their messages are not as short, nor as long. */
  STREAM(64, List.of(1 << 16)),
  /** Messages there and back on many connections at once. */
  CROWD(64, List.of()),
  /** Connections, made one after another. */
  CONNECTS(0, List.of());

  private final int size;
  private final List<Integer> streams;

  Work(int size, List<Integer> streams) {
    this.size = size;
    this.streams = streams;
  }

  /** Bytes of the messages of round trips. */
  int size() {
    return size;
  }

  /** Bytes of the messages of streams. */
  List<Integer> streams() {
    return streams;
  }
}

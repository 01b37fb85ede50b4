package org.hghca.tools.perf.peers;

import java.nio.ByteBuffer;

/**
 * What both ends do next.
 *
 * @param size bytes of a message
 * @param count round trips, or messages that go one way
 */
record Task(Kind kind, int size, int count) {
  /** What is done. */
  enum Kind {
    /** A message there and one back, again and again. */
    ROUND_TRIPS,
    /** Messages from the client to the server, without waiting for each. */
    STREAM,
    /** Nothing more: the ends close. */
    END
  }

  /** Bytes of the largest message. */
  static final int LARGEST = 1 << 20;

  /** Bytes of a message that holds one. */
  static final int LENGTH = 3 * Integer.BYTES;

  static final Task END = new Task(Kind.END, 0, 0);

  byte[] toMessage() {
    return ByteBuffer.allocate(LENGTH).putInt(kind.ordinal()).putInt(size).putInt(count).array();
  }

  static Task parse(byte[] message) {
    ByteBuffer fields = ByteBuffer.wrap(message);
    return new Task(Kind.values()[fields.getInt()], fields.getInt(), fields.getInt());
  }
}

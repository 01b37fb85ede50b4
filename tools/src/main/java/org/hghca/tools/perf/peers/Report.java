package org.hghca.tools.perf.peers;

import java.nio.ByteBuffer;

/**
 * What a server has to say after a task.
 *
 * @param processor nanoseconds that all threads of its process ran meanwhile
 * @param compilers how long the compilers of its JVM have worked so far, in milliseconds
 */
record Report(long processor, long compilers) {
  /** Bytes of a message that holds one. */
  static final int LENGTH = 2 * Long.BYTES;

  byte[] toMessage() {
    return ByteBuffer.allocate(LENGTH).putLong(processor).putLong(compilers).array();
  }

  static Report parse(byte[] message) {
    ByteBuffer fields = ByteBuffer.wrap(message);
    return new Report(fields.getLong(), fields.getLong());
  }
}

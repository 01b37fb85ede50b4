package org.hghca.sockets.stream;

import java.nio.ByteBuffer;
import org.hghca.sockets.protocol.Grants;

/**
 * What a stream receives: its receive requests, posted again by whoever takes completions or reads,
 * and its bytes, read under the monitor of this object.
 */
abstract class Incoming {
  private boolean closed;
  private long bytes;
  private volatile long messages;

  /** Posts the first receives. */
  abstract void post();

  /** What the peer is told of what was read. */
  abstract Grants grants();

  // Completions, one thread at a time.

  /**
   * Takes the bytes of a message that has arrived.
   *
   * @param receive the request that it took
   * @param length what its word says
   * @param received what the completion says
   * @return false when the peer had no room for them
   */
  boolean arrived(int receive, int length, long received) {
    long before = messages;
    messages = before + 1;
    return take(receive, length, received);
  }

  abstract boolean take(int receive, int length, long received);

  /** A message without bytes of the stream took a receive. */
  abstract void used(int receive);

  /** A message has arrived that takes a credit, and has no bytes for this buffer. */
  abstract void arrivedWithoutBytes();

  /** Bytes of a message in front of those of the stream. */
  abstract int header();

  /** The word in the first bytes of a message. */
  abstract int word(int receive);

  // Reading.

  /** Bytes that can be read. */
  abstract int available();

  /**
   * Takes what has arrived.
   *
   * @return how many bytes
   */
  synchronized int read(ByteBuffer destination) {
    int before = destination.position();
    while (!closed && destination.hasRemaining() && copy(destination)) {
      // there may be more
    }
    int taken = destination.position() - before;
    bytes += taken;
    return taken;
  }

  /** Copies bytes in one piece; false when there are none. The monitor is held. */
  abstract boolean copy(ByteBuffer destination);

  /** Whether {@link #close} was called. The monitor is held. */
  boolean isClosed() {
    return closed;
  }

  /** Nothing is read any more: the memory is to be closed. */
  synchronized void close() {
    closed = true;
  }

  synchronized long bytes() {
    return bytes;
  }

  long messages() {
    return messages;
  }
}

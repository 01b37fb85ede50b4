package org.hghca.programs.perf.medium;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.hghca.programs.peer.PeerException;

/** What a side has been sent, in pieces of any length. Any thread adds, one thread reads. */
final class Inbox {
  private static final byte[] END = {};

  private final BlockingQueue<byte[]> pieces = new LinkedBlockingQueue<>();
  private final String peer;
  private ByteBuffer rest = ByteBuffer.allocate(0);
  private Duration limit;

  /**
   * Nothing has arrived.
   *
   * @param peer the other side, for errors
   * @param limit longest wait for each message
   */
  Inbox(String peer, Duration limit) {
    this.peer = peer;
    this.limit = limit;
  }

  /** The other side, for errors. */
  String peer() {
    return peer;
  }

  /** Changes the longest wait for a message. */
  void limit(Duration longest) {
    limit = longest;
  }

  /** Bytes arrive, at least one; the array is not changed any more. */
  void add(byte[] piece) {
    pieces.add(piece);
  }

  /** Nothing more arrives. */
  void end() {
    pieces.add(END);
  }

  /**
   * Waits for a message.
   *
   * @throws PeerException when it does not come in time, or the end comes before it
   */
  byte[] read(String what, int length) throws InterruptedException {
    byte[] message = new byte[length];
    long deadline = System.nanoTime() + limit.toNanos();
    int count = 0;
    while (count < length) {
      if (!rest.hasRemaining()) {
        rest = next(what, count, length, deadline);
      }
      int part = Math.min(length - count, rest.remaining());
      rest.get(message, count, part);
      count += part;
    }
    return message;
  }

  private ByteBuffer next(String what, int count, int length, long deadline)
      throws InterruptedException {
    byte[] more = pieces.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
    if (more == null) {
      throw new PeerException(
          "%s sent %d of the %d bytes of %s in %d ms"
              .formatted(peer, count, length, what, limit.toMillis()));
    }
    if (more.length == 0) {
      end();
      throw new PeerException(
          "%s ended the conversation after %d of the %d bytes of %s"
              .formatted(peer, count, length, what));
    }
    return ByteBuffer.wrap(more);
  }
}

package org.hghca.conformance.interop;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.time.Duration;
import org.hghca.sockets.stream.ByteStream;

/**
 * Our end of {@code rstream}: sends and receives what the C program expects of its peer. Byte n of
 * all that an end has sent, over all of its connections, is n modulo 256, where the C program was
 * told to verify; this end always sends so.
 */
final class RstreamEnd {
  /** Before each size the client says so much, and the server answers with as much. */
  private static final int SYNC = 16;

  private static final int LONGEST = 1 << 20;

  private final boolean serves;
  private final boolean verifies;
  private final long deadline;
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(LONGEST);
  private long sent;
  private long received;

  /**
   * An end that has not begun.
   *
   * @param serves whether the peer is the client, which sends first
   * @param verifies whether what the peer sends is verified
   */
  RstreamEnd(boolean serves, boolean verifies, Duration limit) {
    this.serves = serves;
    this.verifies = verifies;
    this.deadline = System.nanoTime() + limit.toNanos();
  }

  /** What {@code rstream -S size -C transfers -I iterations} does over one connection. */
  void exchange(ByteStream stream, long size, int transfers, int iterations) throws IOException {
    turn(stream, SYNC);
    for (int i = 0; i < iterations; i++) {
      turn(stream, size * transfers);
    }
  }

  /** Reads the end of the stream, which the peer ends. */
  void awaitEnd(ByteStream stream) throws IOException {
    int taken;
    while ((taken = stream.read(buffer.clear())) == 0) {
      if (!stream.await(SelectionKey.OP_READ, deadline)) {
        throw new IOException("the peer does not end");
      }
    }
    if (taken > 0) {
      throw new IOException("%d bytes come before the end".formatted(taken));
    }
  }

  private void turn(ByteStream stream, long bytes) throws IOException {
    if (serves) {
      receive(stream, bytes);
      send(stream, bytes);
    } else {
      send(stream, bytes);
      receive(stream, bytes);
    }
  }

  private void send(ByteStream stream, long bytes) throws IOException {
    for (long left = bytes; left > 0; left -= buffer.position()) {
      buffer.clear().limit((int) Math.min(left, LONGEST));
      for (int i = 0; i < buffer.limit(); i++) {
        buffer.put(i, (byte) (sent + i));
      }
      sent += buffer.limit();
      while (buffer.hasRemaining()) {
        if (stream.write(buffer) == 0 && !stream.await(SelectionKey.OP_WRITE, deadline)) {
          throw new IOException("no room for byte %d of %d".formatted(buffer.position(), bytes));
        }
      }
    }
  }

  private void receive(ByteStream stream, long bytes) throws IOException {
    long got = 0;
    while (got < bytes) {
      buffer.clear().limit((int) Math.min(bytes - got, LONGEST));
      int taken = stream.read(buffer);
      if (taken < 0) {
        throw new IOException("the peer ends after %d of %d bytes".formatted(got, bytes));
      }
      if (taken == 0 && !stream.await(SelectionKey.OP_READ, deadline)) {
        throw new IOException("nothing comes after %d of %d bytes".formatted(got, bytes));
      }
      verify(taken);
      got += taken;
    }
  }

  private void verify(int length) throws IOException {
    for (int i = 0; i < length && verifies; i++) {
      if (buffer.get(i) != (byte) (received + i)) {
        throw new IOException(
            "byte %d that the peer has sent is %d".formatted(received + i, buffer.get(i)));
      }
    }
    received += length;
  }

  /** How many bytes it has sent, and received. */
  long moved() {
    return sent + received;
  }
}

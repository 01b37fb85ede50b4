package org.hghca.sockets.stream;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Moves bytes through streams in pieces of random lengths, and compares each with what was sent.
 */
final class Transfer {
  private final List<CompletableFuture<Void>> parts = new ArrayList<>();
  private final long seed;

  /**
   * Nothing moves yet.
   *
   * @param seed of the lengths of the pieces
   */
  Transfer(long seed) {
    this.seed = seed;
  }

  /** The byte at a position of any stream: no two parts of a stream are alike. */
  static byte at(long position) {
    long mixed = position * 0x9e37_79b9_7f4a_7c15L;
    return (byte) (mixed >>> 56);
  }

  /** A step that may fail. */
  private interface Step {
    void run() throws IOException;
  }

  private void start(Thread.Builder threads, Step step) {
    CompletableFuture<Void> part = new CompletableFuture<>();
    threads.start(
        () -> {
          try {
            step.run();
            part.complete(null);
          } catch (IOException | RuntimeException | Error e) {
            part.completeExceptionally(e);
          }
        });
    parts.add(part);
  }

  /**
   * Begins to move bytes from one stream to another.
   *
   * @param longest piece that is written or read
   */
  Transfer begin(Thread.Builder threads, ByteStream from, ByteStream to, long bytes, int longest) {
    start(threads, () -> write(from, bytes, longest));
    start(threads, () -> read(to, bytes, longest));
    return this;
  }

  private void write(ByteStream stream, long bytes, int longest) throws IOException {
    Random random = new Random(seed);
    ByteBuffer buffer = ByteBuffer.allocateDirect(longest);
    for (long sent = 0; sent < bytes; ) {
      int length = (int) Math.min(bytes - sent, 1 + random.nextInt(longest));
      buffer.clear();
      for (int i = 0; i < length; i++) {
        buffer.put(at(sent + i));
      }
      TwoStreamDevices.writeFully(stream, buffer.flip());
      sent += length;
    }
  }

  private void read(ByteStream stream, long bytes, int longest) throws IOException {
    Random random = new Random(~seed);
    ByteBuffer buffer = ByteBuffer.allocate(longest);
    for (long got = 0; got < bytes; ) {
      int length = (int) Math.min(bytes - got, 1 + random.nextInt(longest));
      TwoStreamDevices.readFully(stream, buffer.clear().limit(length));
      for (int i = 0; i < length; i++) {
        if (buffer.get(i) != at(got + i) || buffer.position() < length) {
          throw new IOException(
              "byte %d is %d, not %d (%d of %d bytes came)"
                  .formatted(got + i, buffer.get(i), at(got + i), buffer.position(), length));
        }
      }
      got += length;
    }
  }

  /** Waits until all has moved. */
  void end() throws IOException {
    try {
      CompletableFuture.allOf(parts.toArray(CompletableFuture[]::new)).get(100, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new IOException(e.getCause());
    } catch (InterruptedException | TimeoutException e) {
      throw new IOException(e);
    }
  }
}

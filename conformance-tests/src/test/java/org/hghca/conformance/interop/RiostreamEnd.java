package org.hghca.conformance.interop;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.time.Duration;
import org.hghca.sockets.stream.ByteStream;
import org.hghca.sockets.stream.MappedStream;
import org.hghca.verbs.MemoryRegion;

/**
 * Our end of {@code riostream}: both ends write the other's memory in turn, and learn by its last
 * byte that all of it has come. That byte counts the turns of both; the others count all that an
 * end has written.
 */
final class RiostreamEnd {
  private static final int SYNC = 16;
  private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();

  private final ByteStream stream;
  private final MemoryRegion memory;
  private final boolean serves;
  private final long deadline;
  private int written;
  private int verified;

  /**
   * An end that has not begun.
   *
   * @param memory what the peer writes
   * @param serves whether the peer is the client, which writes first
   */
  RiostreamEnd(ByteStream stream, MemoryRegion memory, boolean serves, Duration limit) {
    this.stream = stream;
    this.memory = memory;
    this.serves = serves;
    this.deadline = System.nanoTime() + limit.toNanos();
  }

  /** What {@code riostream -T v -C 1 -I iterations} does, with the size that the memory has. */
  void exchange(int iterations) throws IOException {
    int last = (int) memory.length() - 1;
    BYTE.setVolatile(memory.segment(), (long) last, (byte) -1);
    while (!((MappedStream) stream).map(memory, 0, 0)) {
      await(SelectionKey.OP_WRITE, "no room for the memory");
    }
    sync(serves);
    sync(!serves);
    byte marker = 0;
    for (int i = 0; i < iterations; i++) {
      if (serves) {
        receive(last, marker++);
        send(last, marker++);
      } else {
        send(last, marker++);
        receive(last, marker++);
      }
    }
  }

  private void sync(boolean receives) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(SYNC);
    while (buffer.hasRemaining()) {
      if (receives && stream.read(buffer) < 0) {
        throw new IOException("the peer ends");
      } else if (!receives) {
        stream.write(buffer);
      }
      if (buffer.hasRemaining()) {
        await(receives ? SelectionKey.OP_READ : SelectionKey.OP_WRITE, "no word of the peer");
      }
    }
  }

  private void await(int operation, String otherwise) throws IOException {
    if (!stream.await(operation, deadline)) {
      throw new IOException(otherwise);
    }
  }

  private void send(int last, byte marker) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(last + 1);
    for (int i = 0; i < last; i++) {
      buffer.put(i, (byte) written++);
    }
    buffer.put(last, marker);
    while (buffer.hasRemaining()) {
      if (((MappedStream) stream).writeMapped(buffer, buffer.position()) == 0) {
        stream.progress();
        requireTime("no room for byte %d".formatted(buffer.position()));
      }
    }
  }

  private void receive(int last, byte marker) throws IOException {
    while ((byte) BYTE.getVolatile(memory.segment(), (long) last) != marker) {
      stream.progress();
      requireTime("the peer has not written turn %d".formatted(marker));
      Thread.onSpinWait();
    }
    for (int i = 0; i < last; i++) {
      byte got = memory.segment().get(ValueLayout.JAVA_BYTE, i);
      if (got != (byte) verified++) {
        throw new IOException("byte %d of turn %d is %d".formatted(i, marker, got));
      }
    }
  }

  private void requireTime(String otherwise) throws IOException {
    if (System.nanoTime() > deadline) {
      throw new IOException(otherwise);
    }
  }
}

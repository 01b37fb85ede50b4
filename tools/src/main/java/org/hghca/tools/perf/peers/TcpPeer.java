package org.hghca.tools.perf.peers;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicReference;
import org.hghca.programs.perf.PerfException;

/**
 * A TCP connection over the loopback interface, new for each measurement, with a thread at each end
 * that blocks. The reader acknowledges how many bytes it has read.
 */
final class TcpPeer implements Peer {
  private static final int LEAST = 64 * 1024;

  private final ByteBuffer here;
  private final ByteBuffer there;

  /** For messages of at most some bytes. */
  TcpPeer(int largest) {
    here = ByteBuffer.allocateDirect(Math.max(LEAST, largest));
    there = ByteBuffer.allocateDirect(Math.max(LEAST, largest));
  }

  @Override
  public Flow send(int size, int count) throws IOException, InterruptedException {
    AtomicReference<Flow> flow = new AtomicReference<>();
    Ends<SocketChannel> ends = Ends.tcp();
    TwoThreads.run(
        ends,
        () -> {
          long left = (long) size * count;
          while (left > 0) {
            there.clear().limit((int) Math.min(left, there.capacity()));
            left -= read(ends.server(), there);
          }
          write(ends.server(), there.clear().putLong((long) size * count).flip());
        },
        () -> {
          long allocated = Allocation.bytes();
          long start = System.nanoTime();
          for (int i = 0; i < count; i++) {
            write(ends.client(), here.clear().limit(size));
          }
          readAll(ends.client(), here.clear().limit(Long.BYTES));
          long nanos = System.nanoTime() - start;
          allocated = Allocation.bytes() - allocated;
          if (here.getLong(0) != (long) size * count) {
            throw new PerfException("%d bytes arrived".formatted(here.getLong(0)));
          }
          flow.set(new Flow(count, nanos, (double) allocated / count));
        });
    return flow.get();
  }

  @Override
  public double pingPong(int size, int count) throws IOException, InterruptedException {
    RoundTrips trips = new RoundTrips(count);
    Ends<SocketChannel> ends = Ends.tcp();
    TwoThreads.run(
        ends,
        () -> {
          for (int i = 0; i < count; i++) {
            readAll(ends.server(), there.clear().limit(size));
            write(ends.server(), there.flip());
          }
        },
        () -> {
          trips.begin();
          for (int i = 0; i < count; i++) {
            write(ends.client(), here.clear().limit(size));
            readAll(ends.client(), here.clear().limit(size));
            trips.next();
          }
        });
    return trips.half();
  }

  private static void write(SocketChannel to, ByteBuffer message) throws IOException {
    while (message.hasRemaining()) {
      to.write(message);
    }
  }

  private static void readAll(SocketChannel from, ByteBuffer message) throws IOException {
    while (message.hasRemaining()) {
      read(from, message);
    }
  }

  private static int read(SocketChannel from, ByteBuffer message) throws IOException {
    int bytes = from.read(message);
    if (bytes < 0) {
      throw new EOFException("the other end has gone");
    }
    return bytes;
  }
}

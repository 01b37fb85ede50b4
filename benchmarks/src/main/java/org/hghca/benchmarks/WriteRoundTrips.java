package org.hghca.benchmarks;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import org.hghca.benchmarks.Pair.Connection;
import org.hghca.benchmarks.Pair.Side;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.SendRequest;

/**
 * RDMA WRITEs of 8 bytes back and forth: the number of the round trip. Each end waits for it in its
 * own memory.
 */
final class WriteRoundTrips implements AutoCloseable {
  private static final VarHandle LONG = JAVA_LONG.varHandle();

  /** The number that ends the other thread. */
  private static final long END = -1;

  private static final int SIGNAL_INTERVAL = 16;
  private static final int LOOKS_BETWEEN_YIELDS = 2000;

  private final End client;
  private final End server;

  /** Of the last round trips, in nanoseconds. */
  private final long[] times = new long[1 << 20];

  private long number;

  WriteRoundTrips(Pair pair, Connection connection) {
    MemoryRegion ofClient = pair.client().memory(2 * Long.BYTES);
    MemoryRegion ofServer = pair.server().memory(2 * Long.BYTES);
    client = new End(pair.client(), connection.client(), ofClient, ofServer);
    server = new End(pair.server(), connection.server(), ofServer, ofClient);
  }

  /** One end: what it writes to the other, then what the other writes to it. */
  private static final class End {
    private final Side side;
    private final QueuePair qp;
    private final MemoryRegion memory;
    private final MemorySegment segment;
    private final SendRequest unsignaled;
    private final SendRequest signaled;
    private int written;

    End(Side side, QueuePair qp, MemoryRegion memory, MemoryRegion target) {
      this.side = side;
      this.qp = qp;
      this.memory = memory;
      this.segment = memory.segment();
      this.unsignaled = request(target);
      this.signaled = request(target).signaled();
    }

    private SendRequest request(MemoryRegion target) {
      return new SendRequest(1)
          .rdmaWrite(target.address() + Long.BYTES, target.rkey())
          .sge(memory, 0, Long.BYTES)
          .inline();
    }

    void write(long number) {
      segment.set(JAVA_LONG, 0, number);
      boolean signal = ++written % SIGNAL_INTERVAL == 0;
      qp.postSend(signal ? signaled : unsignaled);
      if (signal) {
        side.await();
      }
    }

    /** Forgets the END that the other end has written. */
    void forget() {
      segment.set(JAVA_LONG, Long.BYTES, 0);
    }

    /** Waits until the other end has written a number, or END; returns whether it is the number. */
    boolean await(long number) {
      while (true) {
        for (int i = 0; i < LOOKS_BETWEEN_YIELDS; i++) {
          long found = (long) LONG.getAcquire(segment, (long) Long.BYTES);
          if (found == number || found == END) {
            return found == number;
          }
          Thread.onSpinWait();
        }
        Thread.yield();
      }
    }
  }

  /** One thread plays both ends for some time; returns the median in nanoseconds. */
  long oneThread(long nanos) {
    return run(
        nanos,
        () -> {
          client.write(number);
          server.await(number);
          server.write(number);
          client.await(number);
        });
  }

  /** A thread for each end, for some time; returns the median in nanoseconds. */
  long twoThreads(long nanos) {
    long first = number + 1;
    CompletableFuture<Void> answering =
        CompletableFuture.runAsync(() -> answer(first), Thread.ofPlatform()::start);
    long median =
        run(
            nanos,
            () -> {
              client.write(number);
              client.await(number);
            });
    client.write(END);
    answering.join();
    server.forget();
    return median;
  }

  private void answer(long first) {
    for (long expected = first; server.await(expected); expected++) {
      server.write(expected);
    }
  }

  private long run(long nanos, Runnable roundTrip) {
    int count = 0;
    long start = System.nanoTime();
    long before = start;
    while (before - start < nanos) {
      number++;
      roundTrip.run();
      long now = System.nanoTime();
      times[count++ % times.length] = now - before;
      before = now;
    }
    int kept = Math.min(count, times.length);
    Arrays.sort(times, 0, kept);
    return times[kept / 2];
  }

  @Override
  public void close() {
    client.memory.close();
    server.memory.close();
  }
}

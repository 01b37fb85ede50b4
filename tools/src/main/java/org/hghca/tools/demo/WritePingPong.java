package org.hghca.tools.demo;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.SendRequest;
import org.hghca.vfio.TimeScale;

/**
 * RDMA WRITEs of 8 bytes back and forth: the number of the round trip, which the server writes
 * back. Each waits for it in its own memory.
 */
final class WritePingPong {
  private static final int MESSAGE_BYTES = 8;
  private static final int SIGNAL_INTERVAL = 16;
  private static final Duration TIMEOUT = Duration.ofSeconds(2);
  private static final int LOOKS_BETWEEN_YIELDS = 200;
  private static final VarHandle LONG = JAVA_LONG.varHandle();

  /** The memory of a player: what it writes to the other, then what the other writes to it. */
  static final int MEMORY_BYTES = 2 * MESSAGE_BYTES;

  private final String check;
  private final Player server;
  private final Player client;
  private long number;

  WritePingPong(String check, Connection connection) {
    this.check = check;
    boolean inline = connection.canInline(MESSAGE_BYTES);
    server =
        new Player(
            connection.server(),
            connection.serverQp(),
            connection.serverMemory(),
            connection.clientMemory(),
            inline);
    client =
        new Player(
            connection.client(),
            connection.clientQp(),
            connection.clientMemory(),
            connection.serverMemory(),
            inline);
  }

  /**
   * Runs for some time.
   *
   * @throws CheckFailedException when a message failed or did not come
   */
  RoundTrips run(long nanos) {
    Histogram histogram = new Histogram(TimeUnit.SECONDS.toNanos(4), 3);
    long start = System.nanoTime();
    long before = start;
    do {
      number++;
      client.write();
      server.await();
      server.write();
      client.await();
      long now = System.nanoTime();
      histogram.recordValue(Math.min(now - before, histogram.getHighestTrackableValue()));
      before = now;
    } while (before - start < nanos);
    server.finish();
    client.finish();
    return RoundTrips.of(histogram);
  }

  /** One side of the table. */
  private final class Player {
    private final Side side;
    private final QueuePair qp;
    private final MemoryRegion memory;
    private final SendRequest unsignaled;
    private final SendRequest signaled;
    private int written;

    /** Signaled requests whose completions are not polled yet. */
    private int open;

    Player(Side side, QueuePair qp, MemoryRegion memory, MemoryRegion target, boolean inline) {
      this.side = side;
      this.qp = qp;
      this.memory = memory;
      unsignaled = request(target, inline);
      signaled = request(target, inline).signaled();
    }

    private SendRequest request(MemoryRegion target, boolean inline) {
      SendRequest request =
          new SendRequest(1)
              .rdmaWrite(target.address() + MESSAGE_BYTES, target.rkey())
              .sge(memory, 0, MESSAGE_BYTES);
      return inline ? request.inline() : request;
    }

    /** Writes the number of the round trip into the other's memory. */
    void write() {
      memory.segment().set(JAVA_LONG, 0, number);
      boolean signal = ++written % SIGNAL_INTERVAL == 0;
      if (signal) {
        finish(); // the one before, so that the send queue has room
        open++;
      }
      qp.postSend(signal ? signaled : unsignaled);
    }

    /** Polls the remaining completions. */
    void finish() {
      while (open > 0) {
        open -= side.await(check);
      }
    }

    /** Waits until the other has written the number. */
    void await() {
      TimeScale time = side.time();
      long start = time.nanoTime();
      do {
        for (int i = 0; i < LOOKS_BETWEEN_YIELDS; i++) {
          if ((long) LONG.getAcquire(memory.segment(), (long) MESSAGE_BYTES) == number) {
            return;
          }
          Thread.onSpinWait();
        }
        // If cores are scarce, the software HCAs may need this one.
        Thread.yield();
      } while (time.nanoTime() - start < TIMEOUT.toNanos());
      throw new CheckFailedException(
          check,
          "the %s was not written number %d within %d seconds"
              .formatted(side.role(), number, time.stretch(TIMEOUT).toSeconds()));
    }
  }
}

package org.hghca.tools.demo;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.hghca.tools.demo.Connection.End;
import org.hghca.verbs.SendRequest;
import org.hghca.vfio.TimeScale;

/**
 * RDMA WRITEs of 8 bytes back and forth: the number of the round trip, which the server writes
 * back. Each waits for it in its own memory. The complement of the number marks the last round
 * trip.
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
  private final Part<Player> server;
  private final Part<Player> client;

  /** Whether the round trip is the last one. */
  private boolean last;

  WritePingPong(String check, Connection connection) {
    this.check = check;
    server = connection.server().map(end -> new Player(end, connection.clientAddress()));
    client = connection.client().map(end -> new Player(end, connection.serverAddress()));
  }

  /**
   * Runs for some time.
   *
   * @throws CheckFailedException when a message failed or did not come
   */
  RoundTrips run(long nanos) {
    client.run(player -> player.start(nanos));
    do {
      client.run(Player::startRound);
      server.run(Player::reply);
      client.run(Player::endRound);
    } while (!last);
    server.run(Player::finish);
    client.run(Player::finish);
    return client.share(RoundTrips.MESSAGE, player -> RoundTrips.of(player.histogram));
  }

  /** One side of the table. */
  private final class Player {
    private final Histogram histogram = new Histogram(TimeUnit.SECONDS.toNanos(4), 3);
    private final End end;
    private final SendRequest unsignaled;
    private final SendRequest signaled;
    private int written;

    /** Signaled requests whose completions are not polled yet. */
    private int open;

    /** Of the round trip. */
    private long number;

    private long before;
    private long deadline;

    Player(End end, Address target) {
      this.end = end;
      unsignaled = request(target);
      signaled = request(target).signaled();
    }

    private SendRequest request(Address target) {
      SendRequest request =
          new SendRequest(1)
              .rdmaWrite(target.memory() + MESSAGE_BYTES, target.rkey())
              .sge(end.memory(), 0, MESSAGE_BYTES);
      return end.canInline(MESSAGE_BYTES) ? request.inline() : request;
    }

    void start(long nanos) {
      histogram.reset();
      before = System.nanoTime();
      deadline = before + nanos;
    }

    void startRound() {
      number++;
      last = before - deadline >= 0;
      write();
    }

    void reply() {
      number++;
      last = await() < 0;
      write();
    }

    void endRound() {
      await();
      long now = System.nanoTime();
      histogram.recordValue(Math.min(now - before, histogram.getHighestTrackableValue()));
      before = now;
    }

    /** Writes the number of the round trip into the other's memory. */
    private void write() {
      end.memory().segment().set(JAVA_LONG, 0, last ? ~number : number);
      boolean signal = ++written % SIGNAL_INTERVAL == 0;
      if (signal) {
        finish(); // the one before, so that the send queue has room
        open++;
      }
      end.qp().postSend(signal ? signaled : unsignaled);
    }

    /** Polls the remaining completions. */
    void finish() {
      while (open > 0) {
        open -= end.side().await(check);
      }
    }

    /** Waits until the other has written the number, or its complement. */
    private long await() {
      TimeScale time = end.side().time();
      long start = time.nanoTime();
      do {
        for (int i = 0; i < LOOKS_BETWEEN_YIELDS; i++) {
          long found = (long) LONG.getAcquire(end.memory().segment(), (long) MESSAGE_BYTES);
          if (found == number || found == ~number) {
            return found;
          }
          Thread.onSpinWait();
        }
        // If cores are scarce, the software HCAs may need this one.
        Thread.yield();
      } while (time.nanoTime() - start < TIMEOUT.toNanos());
      throw new CheckFailedException(
          check,
          "the %s was not written number %d within %d seconds"
              .formatted(end.side().role(), number, time.stretch(TIMEOUT).toSeconds()));
    }
  }
}

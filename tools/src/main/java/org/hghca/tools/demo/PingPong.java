package org.hghca.tools.demo;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.hghca.verbs.Completions;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcOpcode;

/** SENDs of 8 bytes back and forth: the number of the round trip, which the server sends back. */
final class PingPong {
  private static final int MESSAGE_BYTES = 8;
  private static final int SIGNAL_INTERVAL = 16;

  /** The memory of a player: what it sends, then what it receives. */
  static final int MEMORY_BYTES = 2 * MESSAGE_BYTES;

  private final String check;
  private final Player server;
  private final Player client;

  PingPong(String check, Connection connection) {
    this.check = check;
    boolean inline = connection.canInline(MESSAGE_BYTES);
    server =
        new Player(connection.server(), connection.serverQp(), connection.serverMemory(), inline);
    client =
        new Player(connection.client(), connection.clientQp(), connection.clientMemory(), inline);
  }

  /**
   * Runs for some time.
   *
   * @throws CheckFailedException when a message failed or came back changed
   */
  RoundTrips run(long nanos) {
    Histogram histogram = new Histogram(TimeUnit.SECONDS.toNanos(4), 3);
    long start = System.nanoTime();
    long before = start;
    long number = 0;
    do {
      client.send(number);
      long heard = server.receive();
      server.send(heard);
      long answer = client.receive();
      long now = System.nanoTime();
      if (answer != number) {
        throw new CheckFailedException(
            check, "round trip %d came back as %d".formatted(number, answer));
      }
      histogram.recordValue(Math.min(now - before, histogram.getHighestTrackableValue()));
      before = now;
      number++;
    } while (before - start < nanos);
    return RoundTrips.of(histogram);
  }

  /** One side of the table, with one receive posted at any time. */
  private final class Player {
    private final Side side;
    private final QueuePair qp;
    private final MemoryRegion memory;
    private final SendRequest unsignaled;
    private final SendRequest signaled;
    private final ReceiveRequest receive;
    private int sent;

    Player(Side side, QueuePair qp, MemoryRegion memory, boolean inline) {
      this.side = side;
      this.qp = qp;
      this.memory = memory;
      unsignaled = request(inline);
      signaled = request(inline).signaled();
      receive = new ReceiveRequest(1).into(memory, MESSAGE_BYTES, MESSAGE_BYTES);
      qp.postReceive(receive);
    }

    private SendRequest request(boolean inline) {
      SendRequest request = new SendRequest(1).send().sge(memory, 0, MESSAGE_BYTES);
      return inline ? request.inline() : request;
    }

    void send(long number) {
      memory.segment().set(JAVA_LONG_UNALIGNED, 0, number);
      qp.postSend(++sent % SIGNAL_INTERVAL == 0 ? signaled : unsignaled);
    }

    /** Waits for a message, and posts the next receive once it was read. */
    long receive() {
      while (true) {
        int count = side.await(check);
        Completions completions = side.completions();
        for (int i = 0; i < count; i++) {
          if (completions.opcode(i) == WcOpcode.RECV) {
            long number = memory.segment().get(JAVA_LONG_UNALIGNED, MESSAGE_BYTES);
            qp.postReceive(receive);
            return number;
          }
        }
      }
    }
  }
}

package org.hghca.tools.demo;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.hghca.tools.demo.Connection.End;
import org.hghca.verbs.Completions;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcOpcode;

/**
 * SENDs of 8 bytes back and forth: the number of the round trip, which the server sends back. The
 * complement of the number marks the last round trip.
 */
final class PingPong {
  private static final int MESSAGE_BYTES = 8;
  private static final int SIGNAL_INTERVAL = 16;

  /** The memory of a player: what it sends, then what it receives. */
  static final int MEMORY_BYTES = 2 * MESSAGE_BYTES;

  private final String check;
  private final Part<Player> server;
  private final Part<Player> client;

  /** Whether the round trip is the last one. */
  private boolean last;

  PingPong(String check, Connection connection) {
    this.check = check;
    server = connection.server().map(Player::new);
    client = connection.client().map(Player::new);
  }

  /**
   * Runs for some time.
   *
   * @throws CheckFailedException when a message failed or came back changed
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

  /** One side of the table, with one receive posted at any time. */
  private final class Player {
    private final Histogram histogram = new Histogram(TimeUnit.SECONDS.toNanos(4), 3);
    private final End end;
    private final SendRequest unsignaled;
    private final SendRequest signaled;
    private final ReceiveRequest receive;
    private int sent;

    /** Signaled requests whose completions are not polled yet. */
    private int open;

    private long number;
    private long before;
    private long deadline;

    Player(End end) {
      this.end = end;
      unsignaled = request();
      signaled = request().signaled();
      receive = new ReceiveRequest(1).into(end.memory(), MESSAGE_BYTES, MESSAGE_BYTES);
      end.qp().postReceive(receive);
    }

    private SendRequest request() {
      SendRequest request = new SendRequest(1).send().sge(end.memory(), 0, MESSAGE_BYTES);
      return end.canInline(MESSAGE_BYTES) ? request.inline() : request;
    }

    void start(long nanos) {
      histogram.reset();
      number = 0;
      before = System.nanoTime();
      deadline = before + nanos;
    }

    void startRound() {
      last = before - deadline >= 0;
      send(last ? ~number : number);
    }

    void reply() {
      long heard = receive();
      last = heard < 0;
      send(heard);
    }

    void endRound() {
      long answer = receive();
      long now = System.nanoTime();
      if (answer != (last ? ~number : number)) {
        throw new CheckFailedException(
            check, "round trip %d came back as %d".formatted(number, answer));
      }
      histogram.recordValue(Math.min(now - before, histogram.getHighestTrackableValue()));
      before = now;
      number++;
    }

    private void send(long value) {
      end.memory().segment().set(JAVA_LONG_UNALIGNED, 0, value);
      boolean signal = ++sent % SIGNAL_INTERVAL == 0;
      end.qp().postSend(signal ? signaled : unsignaled);
      open += signal ? 1 : 0;
    }

    /** Waits for a message, and posts the next receive once it was read. */
    private long receive() {
      while (true) {
        if (await()) {
          long number = end.memory().segment().get(JAVA_LONG_UNALIGNED, MESSAGE_BYTES);
          end.qp().postReceive(receive);
          return number;
        }
      }
    }

    /** Whether a message was among the next completions. */
    private boolean await() {
      int count = end.side().await(check);
      Completions completions = end.side().completions();
      boolean received = false;
      for (int i = 0; i < count; i++) {
        if (completions.opcode(i) == WcOpcode.RECV) {
          received = true;
        } else {
          open--;
        }
      }
      return received;
    }

    /** Polls the remaining completions. */
    void finish() {
      while (open > 0) {
        await();
      }
    }
  }
}

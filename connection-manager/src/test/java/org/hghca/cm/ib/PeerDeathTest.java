package org.hghca.cm.ib;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.ib.VirtualNetwork.Node;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A peer that dies in any state, in virtual time: nothing comes from it any more. The end that
 * stays hears of it within the repetitions of what it sends, and then keeps nothing.
 */
class PeerDeathTest {
  private static final Duration LONG = Duration.ofHours(1);

  private final Pair pair = new Pair();
  private final VirtualNetwork net = pair.net;

  /** How far the connection had come. */
  enum Progress {
    BEFORE,
    /** The request has arrived. */
    ASKED,
    /** It has come again, and the passive end has asked for time. */
    MORE_TIME,
    REPLIED,
    /** The reply has come again, and the active end has asked for time. */
    MORE_TIME_TO_CONFIRM,
    ESTABLISHED,
    /** The active end has disconnected. */
    LEAVING,
    TIME_WAIT
  }

  private void reach(Progress progress) {
    switch (progress) {
      case BEFORE -> {}
      case ASKED -> pair.ask();
      case MORE_TIME -> {
        pair.ask();
        net.run(Duration.ofMillis(4700));
        net.assertSent("a REQ", "a REQ", "b MRA");
      }
      case REPLIED -> pair.ask().reply();
      case MORE_TIME_TO_CONFIRM -> {
        pair.ask().reply();
        net.run(Duration.ofMillis(4200));
        net.assertSent("a REQ", "b REP", "b REP", "a MRA");
      }
      case ESTABLISHED -> pair.establish();
      case LEAVING -> {
        pair.establish();
        pair.active.handshake().disconnect(PrivateData.EMPTY);
        net.exchange();
      }
      case TIME_WAIT -> {
        reach(Progress.LEAVING);
        pair.passive.handshake().disconnect(PrivateData.EMPTY);
        net.exchange();
      }
    }
  }

  enum Does {
    NOTHING,
    ASK,
    REPLY,
    CONFIRM,
    DISCONNECT,
    CLOSE
  }

  private void act(Recorder end, Does what) {
    switch (what) {
      case NOTHING -> {}
      case ASK -> end.of(pair.a.carrier.connect(pair.a.request(pair.b, 0x11), end));
      case REPLY -> end.handshake().reply(pair.b.reply(pair.listening.requests.getLast(), 0x22));
      case CONFIRM -> end.handshake().confirm(PrivateData.EMPTY);
      case DISCONNECT -> end.handshake().disconnect(PrivateData.EMPTY);
      case CLOSE -> end.handshake().close();
    }
  }

  /**
   * What the end that stays has heard since the connection began, what it does after the death, and
   * the time after the death, in ms, at which it has heard the last of the events.
   */
  @ParameterizedTest
  @CsvSource(
      textBlock =
          """
          BEFORE,               a, ASK,        unreachable,                                73728
          ASKED,                a, NOTHING,    unreachable,                                73728
          MORE_TIME,            a, NOTHING,    unreachable,                               130468
          ASKED,                a, CLOSE,      '',                                             0
          ASKED,                b, REPLY,      unreachable timeWaitExited,                 16896
          ASKED,                b, CLOSE,      '',                                             0
          REPLIED,              b, NOTHING,    unreachable timeWaitExited,                 16896
          MORE_TIME_TO_CONFIRM, b, NOTHING,    unreachable timeWaitExited,                 82840
          REPLIED,              b, CLOSE,      '',                                             0
          REPLIED,              a, CONFIRM,    replied established,                            0
          REPLIED,              a, CLOSE,      replied,                                        0
          ESTABLISHED,          a, DISCONNECT, disconnected timeWaitExited,                66048
          ESTABLISHED,          b, DISCONNECT, disconnected timeWaitExited,                66048
          ESTABLISHED,          a, CLOSE,      '',                                             0
          ESTABLISHED,          b, CLOSE,      '',                                             0
          LEAVING,              a, NOTHING,    disconnected timeWaitExited,                66048
          LEAVING,              a, CLOSE,      '',                                             0
          LEAVING,              b, DISCONNECT, disconnected timeWaitExited,                  512
          LEAVING,              b, CLOSE,      disconnected,                                   0
          TIME_WAIT,            a, NOTHING,    disconnected timeWaitExited,                  512
          TIME_WAIT,            b, NOTHING,    disconnected timeWaitExited,                  512
          TIME_WAIT,            a, CLOSE,      disconnected,                                   0
          """)
  void endThatStaysHearsOfItAndForgets(
      Progress progress, String stays, Does then, String events, long millis) {
    reach(progress);
    Node living = stays.equals("a") ? pair.a : pair.b;
    net.lose(sent -> true);
    Duration death = net.now();
    Recorder end = living.equals(pair.a) ? pair.active : pair.passive;
    act(end, then);
    List<String> expected = events.isEmpty() ? List.of() : Arrays.asList(events.split(" "));
    while (end.events.size() < expected.size() && net.now().minus(death).compareTo(LONG) < 0) {
      net.run(Duration.ofMillis(1));
    }
    assertThat(end.events).isEqualTo(expected);
    assertThat(net.now().minus(death).toMillis()).isBetween(millis * 99 / 100, millis + 25);
    if (then == Does.CONFIRM) {
      act(end, Does.CLOSE);
    }
    net.run(LONG);
    assertThat(end.events).isEqualTo(expected);
    assertThat(living.engine.size()).isZero();
  }

  /** A peer that has begun anew knows nothing of the connection, and says so to a disconnect. */
  @ParameterizedTest
  @EnumSource(names = {"ESTABLISHED", "LEAVING"})
  void restartedPeerEndsTheConnectionAtOnce(Progress progress) {
    net.lose(sent -> progress == Progress.LEAVING && sent.toString().equals("a DREQ"));
    reach(progress);
    net.loseNothing();
    net.node("again", pair.b.ip);
    if (progress == Progress.ESTABLISHED) {
      act(pair.active, Does.DISCONNECT);
    }
    net.run(Duration.ofMillis(4096 + 512 + 1));
    assertThat(pair.active.take()).containsExactly("disconnected", "timeWaitExited");
    assertThat(pair.a.engine.size()).isZero();
  }

  /** It connects again with a queue pair of the same number: the old connection is stale. */
  @Test
  void restartedPeerThatConnectsAgainEndsItsOldConnection() {
    pair.establish();
    Node again = net.node("again", pair.a.ip);
    Recorder end = new Recorder();
    end.of(again.carrier.connect(again.request(pair.b, 0x11), end));
    net.exchange();
    assertThat(end.take()).containsExactly("rejected 10");
    assertThat(pair.passive.take()).containsExactly("disconnected");
    net.settle();
    assertThat(pair.passive.take()).containsExactly("timeWaitExited");
    assertThat(pair.b.engine.size()).isZero();
    assertThat(again.engine.size()).isZero();
  }

  /** The passive program closes, and nobody hears its refusal. */
  @Test
  void requestOfADeadPeerDoesNotOutliveItsListener() {
    pair.ask();
    net.lose(sent -> true);
    pair.registration.close();
    pair.passive.handshake().close();
    net.run(LONG);
    pair.assertNothingIsKept();
  }
}

package org.hghca.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** An identifier that closes in any state: what its peer hears, and that nothing is left. */
@ParameterizedClass
@EnumSource(CarrierKind.class)
class EveryStateTest {
  /** The code of 17 ms. */
  private static final int SHORT_TIME_WAIT = 12;

  private final TwoDevices it;
  private CmId listener;
  private CmId active;
  private CmId passive;

  EveryStateTest(CarrierKind kind) {
    it = new TwoDevices(kind, "");
  }

  @AfterEach
  void close() {
    it.close();
  }

  /** How far a connection has come. */
  enum Progress {
    BOUND,
    RESOLVING,
    ADDRESS_RESOLVED,
    ROUTE_RESOLVED,
    /** The request waits in the channel of the listener. */
    ASKED,
    /** The program has taken the request. */
    TAKEN,
    /** It has accepted, and the active end has not taken the answer. */
    ACCEPTED,
    /** The active end has confirmed. */
    CONFIRMED,
    ESTABLISHED,
    /** The active end has disconnected, and the passive end has not heard of it. */
    LEAVING,
    /** The passive end has taken DISCONNECTED. */
    LEFT,
    TIME_WAIT,
    OVER
  }

  enum Who {
    ACTIVE,
    PASSIVE,
    LISTENER
  }

  private void reach(Progress last) throws InterruptedException {
    listener = it.listen(PortSpace.TCP, 8);
    active = it.client.id(PortSpace.TCP);
    active.carrier(it.kind);
    active.ackTimeout(SHORT_TIME_WAIT);
    for (Progress next : Progress.values()) {
      if (next.compareTo(last) <= 0) {
        step(next);
      }
    }
  }

  private void step(Progress to) throws InterruptedException {
    switch (to) {
      case BOUND -> active.bind(new InetSocketAddress(0));
      case RESOLVING -> active.resolveAddress(listener.localAddress(), TwoDevices.SOON);
      case ADDRESS_RESOLVED -> it.client.take(CmEventType.ADDR_RESOLVED);
      case ROUTE_RESOLVED -> {
        active.resolveRoute(TwoDevices.SOON);
        it.client.take(CmEventType.ROUTE_RESOLVED);
        active.createQueuePair(it.client.pd, it.client.config(PortSpace.TCP));
      }
      case ASKED -> {
        active.connect();
        awaitEvent(it.server.channel);
      }
      case TAKEN -> passive = it.requested();
      case ACCEPTED -> {
        passive.accept();
        awaitEvent(it.client.channel);
      }
      case CONFIRMED -> {
        it.client.take(CmEventType.ESTABLISHED);
        awaitEvent(it.server.channel);
      }
      case ESTABLISHED -> it.server.take(CmEventType.ESTABLISHED);
      case LEAVING -> {
        active.disconnect();
        awaitEvent(it.server.channel);
      }
      case LEFT -> it.server.take(CmEventType.DISCONNECTED);
      case TIME_WAIT -> {
        passive.disconnect();
        it.client.take(CmEventType.DISCONNECTED);
      }
      case OVER -> {
        it.client.take(CmEventType.TIMEWAIT_EXIT);
        it.server.take(CmEventType.TIMEWAIT_EXIT);
      }
    }
  }

  /** Waits until an event waits; the test takes none meanwhile. */
  private static void awaitEvent(EventChannel channel) {
    while (channel.toString().endsWith(" 0 events")) {
      Thread.onSpinWait();
    }
  }

  /** Takes so many events of an end that stays, which answers as a program does. */
  private static List<String> take(TwoDevices.Device device, int count)
      throws InterruptedException {
    List<String> taken = new ArrayList<>();
    while (taken.size() < count) {
      CmEvent event = device.channel.await(TwoDevices.SOON).orElseThrow();
      event.acknowledge();
      taken.add(
          event.status() == 0
              ? event.type().name()
              : "%s(%d)".formatted(event.type(), event.status()));
      switch (event.type()) {
        case CONNECT_REQUEST -> device.keep(event.id());
        case DISCONNECTED -> {
          if (event.id().toString().endsWith("LEFT_BY_PEER")) {
            event.id().disconnect();
          }
        }
        default -> {}
      }
    }
    return taken;
  }

  /** The events of the end that stays, after those that it has taken. */
  @ParameterizedTest
  @CsvSource(
      textBlock =
          """
          BOUND,            ACTIVE,   ''
          RESOLVING,        ACTIVE,   ''
          ADDRESS_RESOLVED, ACTIVE,   ''
          ROUTE_RESOLVED,   ACTIVE,   ''
          ASKED,            ACTIVE,   CONNECT_REQUEST REJECTED(4)
          TAKEN,            ACTIVE,   REJECTED(4)
          ACCEPTED,         ACTIVE,   REJECTED(28)
          CONFIRMED,        ACTIVE,   ESTABLISHED DISCONNECTED TIMEWAIT_EXIT
          ESTABLISHED,      ACTIVE,   DISCONNECTED TIMEWAIT_EXIT
          LEAVING,          ACTIVE,   DISCONNECTED TIMEWAIT_EXIT
          TIME_WAIT,        ACTIVE,   TIMEWAIT_EXIT
          OVER,             ACTIVE,   ''
          TAKEN,            PASSIVE,  REJECTED(28)
          ACCEPTED,         PASSIVE,  REJECTED(28)
          CONFIRMED,        PASSIVE,  DISCONNECTED TIMEWAIT_EXIT
          ESTABLISHED,      PASSIVE,  DISCONNECTED TIMEWAIT_EXIT
          LEAVING,          PASSIVE,  DISCONNECTED TIMEWAIT_EXIT
          LEFT,             PASSIVE,  DISCONNECTED TIMEWAIT_EXIT
          TIME_WAIT,        PASSIVE,  TIMEWAIT_EXIT
          OVER,             PASSIVE,  ''
          ASKED,            LISTENER, REJECTED(28)
          """)
  void closeTellsThePeerAndLeavesNothing(Progress progress, Who closes, String events)
      throws Exception {
    reach(progress);
    if (progress == Progress.ACCEPTED && closes == Who.PASSIVE) {
      passive.close();
      awaitFailure(it.client.channel);
    } else {
      end(closes).close();
    }
    List<String> expected = events.isEmpty() ? List.of() : Arrays.asList(events.split(" "));
    TwoDevices.Device stays = closes == Who.ACTIVE ? it.server : it.client;
    assertThat(take(stays, expected.size())).isEqualTo(expected);
    assertThat(it.client.channel.poll()).isEmpty();
    assertThat(it.server.channel.poll()).isEmpty();
  }

  /** Waits until the failure of a response is there, too. */
  private static void awaitFailure(EventChannel channel) {
    while (channel.toString().endsWith(" 1 events")) {
      Thread.onSpinWait();
    }
  }

  private CmId end(Who who) {
    return switch (who) {
      case ACTIVE -> active;
      case PASSIVE -> passive;
      case LISTENER -> listener;
    };
  }

  /** What was taken from a listener goes on without it. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.MATCH_ANY, names = "TAKEN|ACCEPTED|ESTABLISHED|LEFT")
  void closedListenerEndsNoConnection(Progress progress) throws Exception {
    reach(progress);
    listener.close();
    for (Progress next : Progress.values()) {
      if (next.compareTo(progress) > 0) {
        step(next);
      }
    }
  }

  /** One is in the backlog, one waits for room there. */
  @Test
  void closedListenerRefusesWhoWaitsForRoom() throws Exception {
    listener = it.listen(PortSpace.TCP, 1);
    CmId first = it.routed(listener);
    first.connect();
    awaitEvent(it.server.channel);
    CmId second = it.routed(listener);
    try (FullBacklog full = new FullBacklog()) {
      second.connect();
      full.await();
    }
    listener.close();
    Map<CmId, Integer> reasons = new HashMap<>();
    for (int i = 0; i < 2; i++) {
      CmEvent refused = it.client.take(CmEventType.REJECTED);
      reasons.put(refused.id(), refused.status());
    }
    assertThat(reasons).isEqualTo(Map.of(first, 28, second, 8));
  }

  /** Both ends at once, in any order of what they send. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.MATCH_ANY, names = "TAKEN|ACCEPTED|CONFIRMED|ESTABLISHED|LEFT")
  void bothEndsCloseAtOnce(Progress progress) throws Exception {
    reach(progress);
    Thread other = Thread.ofVirtual().start(passive::close);
    active.close();
    other.join();
    assertThat(it.client.channel.poll()).isEmpty();
    assertThat(it.server.channel.poll()).isEmpty();
  }

  enum Question {
    ASKED,
    TAKEN,
    ANSWERED
  }

  /** A datagram service has no connection: who has asked hears of the answer alone. */
  @ParameterizedTest
  @CsvSource(
      textBlock =
          """
          ASKED,    ACTIVE,   CONNECT_REQUEST
          TAKEN,    ACTIVE,   ''
          ANSWERED, ACTIVE,   ''
          TAKEN,    PASSIVE,  UNREACHABLE(2)
          ANSWERED, PASSIVE,  ''
          ASKED,    LISTENER, UNREACHABLE(2)
          """)
  void closeOfADatagramService(Question progress, Who closes, String events) throws Exception {
    listener = it.listen(PortSpace.UDP, 8);
    active = it.routed(listener);
    active.connect();
    awaitEvent(it.server.channel);
    if (progress != Question.ASKED) {
      passive = it.requested();
    }
    if (progress == Question.ANSWERED) {
      passive.accept();
      it.client.take(CmEventType.ESTABLISHED);
    }
    end(closes).close();
    List<String> expected = events.isEmpty() ? List.of() : List.of(events);
    TwoDevices.Device stays = closes == Who.ACTIVE ? it.server : it.client;
    assertThat(take(stays, expected.size())).isEqualTo(expected);
    assertThat(it.client.channel.poll()).isEmpty();
    assertThat(it.server.channel.poll()).isEmpty();
  }
}

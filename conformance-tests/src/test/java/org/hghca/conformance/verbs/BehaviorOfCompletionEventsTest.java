package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.profile.TestTime;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Errno;
import org.hghca.verbs.QpType;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WcStatus;
import org.hghca.verbs.WrOpcode;
import org.junit.jupiter.api.Test;

/** Completion channels under traffic of a device that runs by itself. */
class BehaviorOfCompletionEventsTest {
  private static final int ITERATIONS = 100;

  /** How long the test waits for an event that must not arrive. */
  private static final Duration NOT = TestTime.millis(30);

  private static Players players(QpType type) {
    return new PlayerSetup(type).events().on(Fabric.threaded());
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_cq_events.CqEventsTestCase.test_cq_events_rc",
      says = "100 RC messages each way, each wait ends by an event: none is lost")
  void eventsOfReliableConnections() {
    try (Players players = players(QpType.RC)) {
      players.traffic(WrOpcode.SEND, ITERATIONS);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_cq_events.CqEventsTestCase.test_cq_events_ud",
      says = "100 datagrams each way, each wait ends by an event: none is lost")
  void eventsOfDatagrams() {
    try (Players players = players(QpType.UD)) {
      players.traffic(WrOpcode.SEND, ITERATIONS);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_cq.CQAPITest.test_create_cq_with_comp_channel",
      says = "cqe of 1, half and all of max_cqe with a channel")
  void everySizeWithAChannel() {
    try (Fabric fabric = Fabric.open();
        CompletionChannel channel = fabric.left().createCompletionChannel()) {
      int most = fabric.left().queryDevice().maxCqe();
      for (int entries : new int[] {1, most / 2, most}) {
        CompletionQueueConfig config = CompletionQueueConfig.of(entries);
        try (CompletionQueue queue =
            fabric.left().createCompletionQueue(config.withChannel(channel))) {
          assertThat(queue.channel()).containsSame(channel);
          assertThat(queue.entries()).isGreaterThanOrEqualTo(entries);
          assertThatThrownBy(channel::close)
              .isInstanceOf(VerbsException.class)
              .extracting("errno")
              .isEqualTo(Errno.EBUSY);
        }
      }
    }
  }

  private static void send(Players players, boolean solicited) {
    SendRequest send = Players.request(WrOpcode.SEND, players.client, players.server, 0);
    players.client.qp().postSend(solicited ? send.solicited() : send);
    players.client.poll();
  }

  private static CompletionChannel channel(Player player) {
    return player.channel.orElseThrow();
  }

  /** Takes the events of the notification request at the player's creation. */
  private static void disarm(Players players) throws InterruptedException {
    players.server.postReceive();
    send(players, false);
    assertThat(channel(players.server).await(TestTime.seconds(10))).isPresent();
    assertThat(Wc.await(players.fabric, players.server.queue, 1)).hasSize(1);
  }

  @Test
  @VerbsCase(
      tier = Tier.CONTRACT,
      source = VerbsCase.CONTRACT,
      says = "solicited-only notify: an unsolicited receive raises no event, a solicited one does")
  @Needs(Feature.SOLICITED_ONLY)
  void onlySolicitedReceivesRaiseEvents() throws InterruptedException {
    try (Players players = players(QpType.RC)) {
      disarm(players);
      Player server = players.server;
      server.postReceive();
      server.postReceive();
      server.queue.requestNotify(true);
      send(players, false);
      assertThat(channel(server).await(NOT)).isEmpty();
      send(players, true);
      assertThat(channel(server).await(TestTime.seconds(10))).contains(server.queue);
      assertThat(Wc.await(players.fabric, server.queue, 2)).allSatisfy(Side::assertSuccess);
      assertThat(channel(server).poll()).isEmpty();
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.CONTRACT,
      source = VerbsCase.CONTRACT,
      says = "solicited-only notify: an error raises the event, too")
  @Needs(Feature.SOLICITED_ONLY)
  void errorRaisesTheEventOfSolicitedReceives() throws InterruptedException {
    try (Players players = players(QpType.RC)) {
      disarm(players);
      Player server = players.server;
      server.qp().postReceive(server.receive.wrId(1).into(server.region, 0, 1));
      server.queue.requestNotify(true);
      Player client = players.client;
      client.qp().postSend(Players.request(WrOpcode.SEND, client, server, 0));
      assertThat(channel(server).await(TestTime.seconds(10))).contains(server.queue);
      List<Wc> found = Wc.await(players.fabric, server.queue, 1);
      assertThat(found.getFirst().status()).isEqualTo(WcStatus.LOC_LEN_ERR);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.CONTRACT,
      source = VerbsCase.CONTRACT,
      says = "one event for each request to notify, none for completions that are present already")
  void oneRequestRaisesOneEvent() throws InterruptedException {
    try (Players players = players(QpType.RC)) {
      disarm(players);
      Player server = players.server;
      for (int i = 0; i < 4; i++) {
        server.postReceive();
      }
      send(players, false);
      players.fabric.settle();
      server.queue.requestNotify(false);
      assertThat(channel(server).await(NOT)).isEmpty();
      send(players, false);
      assertThat(channel(server).await(TestTime.seconds(10))).contains(server.queue);
      send(players, false);
      assertThat(channel(server).await(NOT)).isEmpty();
      server.queue.requestNotify(false);
      if (TestProfile.has(Feature.SOLICITED_ONLY)) {
        server.queue.requestNotify(true);
      }
      send(players, false);
      assertThat(channel(server).await(TestTime.seconds(10))).contains(server.queue);
      assertThat(Wc.await(players.fabric, server.queue, 4)).allSatisfy(Side::assertSuccess);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.CONTRACT,
      source = VerbsCase.CONTRACT,
      says = "a request to notify of a CQ without a channel is EINVAL")
  void queueWithoutAChannelRefusesNotification() {
    try (Fabric fabric = Fabric.open();
        CompletionQueue queue = fabric.left().createCompletionQueue(1)) {
      assertThatThrownBy(() -> queue.requestNotify(false))
          .isInstanceOf(VerbsException.class)
          .extracting("errno")
          .isEqualTo(Errno.EINVAL);
    }
  }
}

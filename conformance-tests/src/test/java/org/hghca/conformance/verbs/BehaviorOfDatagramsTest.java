package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.stream.LongStream;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.QpType;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WrOpcode;
import org.junit.jupiter.api.Test;

/** Datagrams: the traffic of rdma-core's tests, and datagrams that are dropped. */
class BehaviorOfDatagramsTest {
  private static final int ITERATIONS = 100;

  private static PlayerSetup ud() {
    return new PlayerSetup(QpType.UD);
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qpex.QpExTestCase.test_qp_ex_ud_send",
      says = "SEND both ways; the data follows 40 bytes of GRH")
  void sends() {
    try (Players players = ud().open()) {
      players.traffic(WrOpcode.SEND, ITERATIONS);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qpex.QpExTestCase.test_qp_ex_ud_send_imm",
      says = "SEND with immediate: IBV_WC_WITH_IMM and the peer's 32 bits")
  @Needs(Feature.SEND_WITH_IMMEDIATE)
  void sendsWithImmediate() {
    try (Players players = ud().open()) {
      players.traffic(WrOpcode.SEND_WITH_IMM, ITERATIONS);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qpex.QpExTestCase.test_qp_ex_ud_zero_size",
      says = "empty SEND: 40 bytes are received")
  @Needs(Feature.ZERO_LENGTH)
  void emptySends() {
    try (Players players = ud().messageSize(0).open()) {
      players.traffic(WrOpcode.SEND, ITERATIONS);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_relaxed_ordering.RoTestCase.test_ro_ud_traffic",
      says = "RELAXED_ORDERING is accepted, and the traffic is as without it")
  void trafficWithRelaxedOrdering() {
    try (Players players =
        ud().memoryAccess(AccessFlag.LOCAL_WRITE, AccessFlag.RELAXED_ORDERING).open()) {
      players.traffic(WrOpcode.SEND, ITERATIONS);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_cqex.CqExTestCase.test_ud_traffic_cq_ex",
      says = "100 completions in batches: each once, with GRH flag and source QPN")
  void batchesReturnEachDatagramOnce() {
    try (Players players = ud().messageSize(8).open()) {
      Player client = players.client;
      Player server = players.server;
      for (int i = 0; i < ITERATIONS; i++) {
        server.qp().postReceive(server.receive.wrId(i).into(server.region));
        SendRequest send = Players.request(WrOpcode.SEND, client, server, 0);
        client.qp().postSend(send.wrId(1000 + i));
      }
      // Polling lets a device continue that has room for only a few doorbells.
      List<Wc> sent = Wc.await(players.fabric, client.queue, ITERATIONS);
      players.fabric.settle();
      Completions completions = new Completions(ITERATIONS);
      assertThat(server.queue.poll(completions)).isEqualTo(ITERATIONS);
      for (int i = 0; i < ITERATIONS; i++) {
        assertThat(completions.isSuccess(i)).isTrue();
        assertThat(completions.wrId(i)).isEqualTo(i);
        assertThat(completions.flags(i))
            .isEqualTo(TestProfile.pick(Feature.GRH, Completions.GRH, 0));
        assertThat(completions.sourceQp(i)).isEqualTo(client.qp().number());
        assertThat(completions.byteLength(i)).isEqualTo(Player.GRH + 8);
      }
      assertThat(sent)
          .extracting(Wc::wrId)
          .containsExactlyElementsOf(LongStream.range(1000, 1100).boxed().toList());
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.CONTRACT,
      source = VerbsCase.CONTRACT,
      says = "UD: a wrong Q_Key is dropped, SUCCESS at the sender, the receive stays posted")
  @Needs(Feature.QKEY_CHECK)
  void wrongQkeyIsDropped() {
    try (Players players = ud().open()) {
      Player client = players.client;
      Player server = players.server;
      server.postReceive();
      client.write();
      server.write();
      SendRequest wrong = Players.request(WrOpcode.SEND, client, server, 0);
      client.qp().postSend(wrong.to(client.way(), server.qp().number(), Player.QKEY + 1));
      client.poll();
      server.assertQuiet();
      server.assertHolds(server.letter);
      client.qp().postSend(Players.request(WrOpcode.SEND, client, server, 0));
      client.poll();
      assertThat(server.poll().wrId()).isEqualTo(1000);
      server.assertHolds(client.letter);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.CONTRACT,
      source = VerbsCase.CONTRACT,
      says = "UD: a datagram for which no receive is posted is lost, SUCCESS at the sender")
  @Needs(Feature.RNR_RETRY)
  void datagramWithoutAReceiveIsLost() {
    try (Players players = ud().open()) {
      Player client = players.client;
      Player server = players.server;
      client.qp().postSend(Players.request(WrOpcode.SEND, client, server, 0));
      client.poll();
      server.postReceive();
      server.assertQuiet();
      players.traffic(WrOpcode.SEND, 1);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.CONTRACT,
      source = VerbsCase.CONTRACT,
      says = "UD: an AH created from a completion and its GRH reaches the sender")
  @Needs(Feature.GRH)
  void datagramIsAnswered() {
    try (Players players = ud().open()) {
      Player client = players.client;
      Player server = players.server;
      client.postReceive();
      server.postReceive();
      client.write();
      client.qp().postSend(Players.request(WrOpcode.SEND, client, server, 0));
      client.poll();
      Completions received = new Completions(1);
      players.fabric.await(() -> server.queue.poll(received) == 1, () -> "no datagram");
      try (AddressHandle back =
          server.pd.createAddressHandle(received, 0, server.region.segment(), 1)) {
        server.write();
        server
            .qp()
            .postSend(
                server
                    .send
                    .send()
                    .sge(server.region, Player.GRH, 1024)
                    .to(back, received.sourceQp(0), Player.QKEY)
                    .signaled());
        server.poll();
        client.poll();
        client.assertHolds(server.letter);
      }
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.CONTRACT,
      source = VerbsCase.CONTRACT,
      says = "UD: RDMA and atomics are refused at the post, EOPNOTSUPP")
  void rdmaOnDatagramsIsRefused() {
    try (Players players = ud().open()) {
      Player client = players.client;
      Player server = players.server;
      for (SendRequest wrong :
          List.of(
              new SendRequest().rdmaWrite(server.address(), server.region.rkey()),
              new SendRequest().rdmaRead(server.address(), server.region.rkey()),
              new SendRequest().fetchAndAdd(server.address(), server.region.rkey(), 1))) {
        wrong.sge(client.region, Player.GRH, 8).to(client.way(), server.qp().number(), Player.QKEY);
        assertThatThrownBy(() -> client.qp().postSend(wrong))
            .isInstanceOf(BadRequestException.class)
            .extracting("errno")
            .isEqualTo(Errno.EOPNOTSUPP);
      }
    }
  }
}

package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.Errno;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WrOpcode;
import org.junit.jupiter.api.Test;

/** Connections that lose messages without an error. */
class BehaviorOfUnreliableConnectionsTest {

  private static PlayerSetup uc() {
    return new PlayerSetup(QpType.UC).messageSize(3000);
  }

  @Test
  @VerbsCase(
      tier = Tier.CONTRACT,
      source = VerbsCase.CONTRACT,
      says = "UC: SEND, RDMA WRITE and both with immediate arrive, also with several packets")
  void messagesArrive() {
    try (Players players = uc().open()) {
      players.rdma(WrOpcode.RDMA_WRITE, 10);
      for (WrOpcode opcode :
          Transfer.possible(WrOpcode.SEND, WrOpcode.SEND_WITH_IMM, WrOpcode.RDMA_WRITE_WITH_IMM)) {
        players.traffic(opcode, 10);
      }
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.CONTRACT,
      source = VerbsCase.CONTRACT,
      says = "UC loses messages: no receive, SUCCESS at the sender, the next message arrives")
  @Needs(Feature.RNR_RETRY)
  void messageWithoutAReceiveIsLost() {
    try (Players players = uc().open()) {
      Player client = players.client;
      Player server = players.server;
      client.qp().postSend(Players.request(WrOpcode.SEND, client, server, 0));
      client.poll();
      server.postReceive();
      server.assertQuiet();
      client.write();
      server.write();
      client.qp().postSend(Players.request(WrOpcode.SEND, client, server, 0));
      client.poll();
      server.poll();
      server.assertHolds(client.letter);
      assertThat(client.qp().query().state()).isEqualTo(QpState.RTS);
      assertThat(server.qp().query().state()).isEqualTo(QpState.RTS);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.CONTRACT,
      source = VerbsCase.CONTRACT,
      says = "UC loses messages: the peer does not answer, SUCCESS at the sender at once")
  void silentPeerIsNotDetected() {
    try (Players players = uc().open()) {
      Player client = players.client;
      players.server.qp().modify(QpAttributes.to(QpState.ERR));
      client.qp().postSend(Players.request(WrOpcode.SEND, client, players.server, 0));
      client.poll();
      client.qp().postSend(Players.request(WrOpcode.RDMA_WRITE, client, players.server, 0));
      client.poll();
      assertThat(client.qp().query().state()).isEqualTo(QpState.RTS);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.CONTRACT,
      source = VerbsCase.CONTRACT,
      says = "UC: RDMA READ and atomics are refused at the post, EOPNOTSUPP")
  void operationsWithAResponseAreRefused() {
    try (Players players = uc().open()) {
      Player client = players.client;
      Player server = players.server;
      for (SendRequest wrong :
          List.of(
              new SendRequest().rdmaRead(server.address(), server.region.rkey()),
              new SendRequest().compareAndSwap(server.address(), server.region.rkey(), 0, 1),
              new SendRequest().fetchAndAdd(server.address(), server.region.rkey(), 1))) {
        wrong.sge(client.region, 0, 8);
        assertThatThrownBy(() -> client.qp().postSend(wrong))
            .isInstanceOf(BadRequestException.class)
            .extracting("errno")
            .isEqualTo(Errno.EOPNOTSUPP);
      }
    }
  }
}

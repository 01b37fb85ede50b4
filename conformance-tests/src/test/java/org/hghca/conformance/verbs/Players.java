package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.verbs.QpType;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcOpcode;
import org.hghca.verbs.WrOpcode;

/** Two connected players, and the traffic between them as in rdma-core's tests. */
final class Players implements AutoCloseable {
  private static final int IMMEDIATE = 0x1234_5678;

  final Fabric fabric;
  final Player client;
  final Player server;

  Players(Fabric fabric, PlayerSetup setup) {
    this.fabric = fabric;
    client = new Player(fabric, fabric.left(), setup, 'c');
    server = new Player(fabric, fabric.right(), setup, 's');
    client.connect(server);
    server.connect(client);
  }

  /** Takes both to RESET and back to RTS. */
  void reconnect() {
    client.reset();
    server.reset();
    client.connect(server);
    server.connect(client);
  }

  /** Messages in both directions in turn, each of which needs a receive. */
  void traffic(WrOpcode opcode, int iterations) {
    traffic(client, server, opcode, iterations);
  }

  static void traffic(Player client, Player server, WrOpcode opcode, int iterations) {
    Transfer.requireImmediates(opcode);
    for (int qp = 0; qp < client.qps.size(); qp++) {
      client.postReceive(qp);
      server.postReceive(qp);
    }
    for (int i = 0; i < iterations; i++) {
      for (int qp = 0; qp < client.qps.size(); qp++) {
        message(opcode, client, server, qp);
        message(opcode, server, client, qp);
      }
    }
  }

  private static void message(WrOpcode opcode, Player from, Player to, int qp) {
    from.write();
    to.write();
    from.qps.get(qp).postSend(request(opcode, from, to, qp));
    assertThat(from.poll().opcode()).isEqualTo(opcode.completion());
    Wc received = to.poll();
    to.postReceive(qp);
    boolean datagram = from.setup.type() == QpType.UD;
    assertThat(received.qpNumber()).isEqualTo(to.qps.get(qp).number());
    assertThat(received.bytes()).isEqualTo(from.setup.messageSize() + (datagram ? Player.GRH : 0));
    assertThat(received.hasImmediate())
        .isEqualTo(opcode != WrOpcode.SEND && TestProfile.has(Feature.IMMEDIATE_VALUE));
    if (received.hasImmediate()) {
      assertThat(received.immediate()).isEqualTo(IMMEDIATE);
    }
    assertThat(received.opcode())
        .isEqualTo(
            opcode == WrOpcode.RDMA_WRITE_WITH_IMM ? WcOpcode.RECV_RDMA_WITH_IMM : WcOpcode.RECV);
    to.assertHolds(from.letter);
  }

  /** RDMA in both directions in turn, without a completion at the peer. */
  void rdma(WrOpcode opcode, int iterations) {
    for (int i = 0; i < iterations; i++) {
      rdma(opcode, client, server);
      rdma(opcode, server, client);
    }
  }

  static void rdma(WrOpcode opcode, Player from, Player to) {
    from.write();
    to.write();
    from.qp().postSend(request(opcode, from, to, 0));
    assertThat(from.poll().opcode()).isEqualTo(opcode.completion());
    boolean isRead = opcode == WrOpcode.RDMA_READ;
    (isRead ? from : to).awaitHolds(isRead ? to.letter : from.letter);
    (isRead ? to : from).assertHolds(isRead ? to.letter : from.letter);
    assertThat(Wc.drain(to.queue)).isEmpty();
  }

  /** A request with all data of the buffer. */
  static SendRequest request(WrOpcode opcode, Player from, Player to, int qp) {
    SendRequest request =
        switch (opcode) {
          case SEND -> from.send.send();
          case SEND_WITH_IMM -> from.send.sendWithImmediate(IMMEDIATE);
          case RDMA_WRITE -> from.send.rdmaWrite(to.address(), to.region.rkey());
          case RDMA_WRITE_WITH_IMM ->
              from.send.rdmaWriteWithImmediate(to.address(), to.region.rkey(), IMMEDIATE);
          case RDMA_READ -> from.send.rdmaRead(to.address(), to.region.rkey());
          default -> throw new IllegalArgumentException(opcode.toString());
        };
    return from.whole(request, to, qp);
  }

  @Override
  public void close() {
    client.close();
    server.close();
    fabric.close();
  }
}

package org.hghca.model.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.util.List;
import org.hghca.wire.PacketOpcode;
import org.junit.jupiter.api.Test;

/** An acknowledgement that leaves with the answer of the program, where one is likely. */
class HeldAcknowledgementTest {
  private static final int ACK = PacketOpcode.ACKNOWLEDGE;
  private static final int SEND = PacketOpcode.SEND_ONLY;
  private static final int INVALID_REQUEST = 0x61;

  private final RawPeer peer = new RawPeer(Service.RC);
  private final Station station = peer.station;

  private List<Integer> opcodes() {
    return peer.sent().stream().map(RawPeer.Came::opcode).toList();
  }

  private void arrives(int psn, boolean soon) {
    peer.sendsSoon = soon;
    peer.give(
        PacketOpcode.WRITE_ONLY,
        psn,
        packet -> {
          packet.length = 8;
          packet.dmaLength = 8;
          packet.ackRequest = true;
        });
  }

  private void step(boolean soon) {
    peer.sendsSoon = soon;
    peer.run();
  }

  private void post() {
    station.post(Station.request(SendOperation.SEND, 0, 0x1000, 0, 8));
  }

  @Test
  void itFollowsWhatIsSentNext() {
    arrives(0, true);
    assertThat(opcodes()).isEmpty();
    assertThat(peer.isOwed).as("a step must follow").isTrue();

    post();
    step(false);
    assertThat(peer.sent())
        .extracting(RawPeer.Came::opcode, RawPeer.Came::psn)
        .containsExactly(tuple(SEND, 0), tuple(ACK, 0));
  }

  @Test
  void withoutThatItLeavesInTheNextStep() {
    arrives(0, true);
    assertThat(station.transport.isDue(peer.now)).isTrue();
    step(false);
    assertThat(opcodes()).containsExactly(ACK);
    assertThat(station.transport.isDue(peer.now)).isFalse();
  }

  @Test
  void secondPacketSendsIt() {
    arrives(0, true);
    arrives(1, true);
    assertThat(peer.sent())
        .extracting(RawPeer.Came::opcode, RawPeer.Came::psn)
        .containsExactly(tuple(ACK, 1));
    step(false);
    assertThat(opcodes()).isEmpty();
  }

  @Test
  void itIsHeldAgainAfterwards() {
    for (int psn = 0; psn < 5; psn++) {
      arrives(psn, true);
      assertThat(opcodes()).isEmpty();
      step(false);
      assertThat(opcodes()).containsExactly(ACK);
    }
  }

  /** The program may close its queue pair as soon as it has the message. */
  @Test
  void commandFindsItSent() {
    arrives(0, true);
    station.transport.beforeCommand();
    assertThat(opcodes()).containsExactly(ACK);
    station.transport.reset(Station.QPN);
    step(false);
    assertThat(opcodes()).isEmpty();
  }

  @Test
  void queuePairThatIsResetOwesNothing() {
    arrives(0, true);
    station.transport.reset(Station.QPN);
    step(false);
    assertThat(opcodes()).isEmpty();
  }

  @Test
  void refusalIsNotHeld() {
    peer.sendsSoon = true;
    peer.give(PacketOpcode.WRITE_MIDDLE, 0, packet -> packet.length = 8);
    assertThat(peer.sent())
        .extracting(RawPeer.Came::opcode, RawPeer.Came::syndrome)
        .containsExactly(tuple(ACK, INVALID_REQUEST));
  }

  @Test
  void dataIsNotHeld() {
    peer.sendsSoon = true;
    peer.give(
        PacketOpcode.READ_REQUEST,
        0,
        packet -> {
          packet.remoteAddress = 0x1000;
          packet.dmaLength = 8;
        });
    assertThat(opcodes()).containsExactly(PacketOpcode.READ_RESPONSE_ONLY);
  }
}

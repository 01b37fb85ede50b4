package org.hghca.model.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.hghca.wire.PacketOpcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The amount that a requester has in flight. */
class SendWindowTest {
  private static final int ACK = 0x1f;
  private static final int NAK_SEQUENCE = 0x60;

  private final RawPeer peer = new RawPeer(Service.RC);
  private final Station station = peer.station;

  private void post(SendOperation operation, int length) {
    station.post(
        request -> {
          request.operation = operation;
          request.remoteAddress = 0;
          request.remoteKey = Station.KEY;
          request.pieces.add(0, Station.KEY, length);
        });
    peer.run();
  }

  /**
   * Acknowledges packets on request until the station sends nothing more; returns the most in
   * flight.
   */
  private int acknowledgeAll() {
    int acknowledged = -1;
    int sent = 0;
    int most = 0;
    int asked = -1;
    for (List<RawPeer.Came> came = peer.sent(); !came.isEmpty(); came = peer.sent()) {
      for (RawPeer.Came each : came) {
        sent = each.psn();
        asked = each.ackRequest() ? each.psn() : asked;
      }
      most = Math.max(most, sent - acknowledged);
      assertThat(asked).as("what is in flight asks for an answer").isGreaterThan(acknowledged);
      acknowledged = asked;
      peer.answer(ACK, acknowledged);
    }
    return most;
  }

  @ParameterizedTest
  @CsvSource({"256, 128", "512, 128", "1024, 128", "2048, 64", "4096, 32"})
  void inFlightIsAtMost128PacketsOrKibibytes(int mtu, int packets) {
    station.mtu = mtu;
    post(SendOperation.WRITE, 200 * mtu);
    List<RawPeer.Came> sent = peer.sent();
    assertThat(sent).hasSize(packets);
    // Half of them are acknowledged while the other half is in flight.
    assertThat(sent.get(packets / 2 - 1).ackRequest()).isTrue();
    peer.answer(ACK, packets / 2 - 1);
    assertThat(peer.sent()).hasSize(packets / 2);
  }

  @ParameterizedTest
  @ValueSource(ints = {256, 1024, 2048, 4096})
  void messageIsCompletedForAnySizeOfItsPackets(int mtu) {
    station.mtu = mtu;
    post(SendOperation.WRITE, 1 << 20);
    acknowledgeAll();
    assertThat(station.done).extracting(Station.Done::status).containsExactly(WorkStatus.SUCCESS);
  }

  @Test
  void shortMessagesCountByPackets() {
    station.mtu = 4096;
    for (int i = 0; i < 200; i++) {
      post(SendOperation.WRITE, 8);
    }
    assertThat(peer.sent()).hasSize(128);
  }

  @Test
  void lossHalvesTheWindowAndAcksWidenItAgain() {
    post(SendOperation.WRITE, 4000 * 256);
    assertThat(peer.sent()).hasSize(128);
    peer.answer(NAK_SEQUENCE, 0);
    assertThat(peer.sent()).hasSize(64);
    peer.pass();
    List<RawPeer.Came> sent = peer.sent();
    assertThat(sent).hasSize(32);
    assertThat(sent.get(15).ackRequest()).isTrue();
    // A window of acknowledgements adds four packets.
    peer.answer(ACK, 15).answer(ACK, 31);
    assertThat(peer.sent()).hasSize(16 + 16 + 4);
  }

  @Test
  void narrowedWindowGrowsToTheFullOne() {
    station.mtu = 4096;
    for (int i = 0; i < 4; i++) {
      post(SendOperation.WRITE, 1 << 20);
    }
    for (int i = 0; i < 6; i++) {
      peer.sent();
      peer.pass();
    }
    assertThat(peer.sent()).as("packets of 4 units").hasSize(1);
    peer.answer(ACK, 0);
    int most = acknowledgeAll();
    assertThat(most).isBetween(28, 32);
    assertThat(station.done).hasSize(4).allMatch(d -> d.status() == WorkStatus.SUCCESS);
  }

  @Test
  void longReadIsRequestedInParts() {
    station.mtu = 4096;
    int length = 50 * 4096 - 100;
    post(SendOperation.READ, length);
    List<RawPeer.Came> sent = peer.sent();
    assertThat(sent).extracting(RawPeer.Came::psn).containsExactly(0, 16);
    assertThat(sent).extracting(RawPeer.Came::address).containsExactly(0L, 16 * 4096L);
    assertThat(sent).extracting(RawPeer.Came::dmaLength).containsExactly(16 * 4096, 16 * 4096);
    for (int psn = 0; psn < 50; psn++) {
      int at = psn % 16;
      boolean last = at == 15 || psn == 49;
      int opcode = PacketOpcode.READ_RESPONSE_MIDDLE;
      opcode = at == 0 ? PacketOpcode.READ_RESPONSE_FIRST : opcode;
      opcode = last ? PacketOpcode.READ_RESPONSE_LAST : opcode;
      peer.data(opcode, psn, psn == 49 ? 4096 - 100 : 4096);
      // Each part is asked for when there is room for all of it.
      List<RawPeer.Came> came = peer.sent();
      if (psn == 15) {
        assertThat(came).extracting(RawPeer.Came::psn).containsExactly(32);
      } else if (psn == 17) {
        assertThat(came).extracting(RawPeer.Came::dmaLength).containsExactly(2 * 4096 - 100);
      } else {
        assertThat(came).as("after response %d", psn).isEmpty();
      }
    }
    assertThat(station.done).extracting(Station.Done::length).containsExactly((long) length);
  }

  @Test
  void partsOfAReadCountAsReads() {
    station.mtu = 4096;
    station.maxReads = 1;
    post(SendOperation.READ, 40 * 4096);
    post(SendOperation.READ, 8);
    assertThat(peer.psns()).containsExactly(0);
    for (int psn = 0; psn < 16; psn++) {
      peer.data(psn == 15 ? 0x0f : psn == 0 ? 0x0d : 0x0e, psn, 4096);
    }
    assertThat(peer.psns()).containsExactly(16);
    // One is lost: the rest of the part, then the next one.
    peer.data(PacketOpcode.READ_RESPONSE_MIDDLE, 20, 4096);
    peer.data(PacketOpcode.READ_RESPONSE_FIRST, 16, 4096);
    peer.pass();
    List<RawPeer.Came> sent = peer.sent();
    assertThat(sent.getLast().psn()).isEqualTo(17);
    assertThat(sent.getLast().dmaLength()).isEqualTo(15 * 4096);
    for (int psn = 17; psn < 40; psn++) {
      peer.data(psn == 31 || psn == 39 ? 0x0f : psn == 32 ? 0x0d : 0x0e, psn, 4096);
    }
    assertThat(peer.psns()).containsExactly(32, 40);
    peer.data(PacketOpcode.READ_RESPONSE_ONLY, 40, 8);
    assertThat(station.done).hasSize(2).allMatch(d -> d.status() == WorkStatus.SUCCESS);
  }

  @Test
  void fencedRequestWaitsForAllPartsOfAReadBeforeIt() {
    post(SendOperation.READ, 100 * 256);
    station.post(
        request -> {
          request.operation = SendOperation.SEND;
          request.fence = true;
          request.pieces.add(0, Station.KEY, 8);
        });
    peer.run();
    assertThat(peer.psns()).containsExactly(0, 64);
    for (int psn = 0; psn < 100; psn++) {
      assertThat(peer.sent()).isEmpty();
      peer.data(psn == 63 || psn == 99 ? 0x0f : psn % 64 == 0 ? 0x0d : 0x0e, psn, 256);
    }
    assertThat(peer.psns()).containsExactly(100);
  }
}

package org.hghca.model.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.function.Consumer;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Congestion marks, the notifications that answer them, and their effect on a sender. */
class CongestionTest {
  private static final int NOTIFICATION = 0x81;
  private static final int MTU = 256;

  private static Consumer<Packet> write(int trafficClass) {
    return packet -> {
      packet.trafficClass = trafficClass;
      packet.length = 8;
      packet.dmaLength = 8;
      packet.queueKey = 0x1234;
      packet.sourceQpn = 77;
      packet.ackRequest = true;
    };
  }

  private static void slowDown(RawPeer peer, int cuts) {
    for (int i = 0; i < cuts; i++) {
      peer.now += RateLimit.CUT_INTERVAL;
      peer.give(NOTIFICATION, 0, packet -> {});
    }
  }

  /** Posts a request of so many packets. */
  private static void post(RawPeer peer, SendOperation operation, int packets) {
    peer.station.post(
        request -> {
          request.operation = operation;
          request.remoteKey = Station.KEY;
          request.pieces.add(0, Station.KEY, packets * MTU);
        });
  }

  /** The bytes of payload that a station sends within a time. */
  private static long bytesIn(RawPeer peer, long nanos) {
    long end = peer.now + nanos;
    long bytes = 0;
    while (peer.station.transport.nextDeadline() <= end) {
      peer.pass();
      bytes += peer.sent().stream().mapToLong(RawPeer.Came::length).sum();
    }
    peer.now = end;
    return bytes;
  }

  @ParameterizedTest
  @ValueSource(ints = {0x00, 0x01, 0x02, 0xc2})
  void unmarkedPacketsAreNotAnswered(int trafficClass) {
    RawPeer peer = new RawPeer(Service.RC);
    peer.give(PacketOpcode.WRITE_ONLY, 0, write(trafficClass));
    assertThat(peer.sent()).noneMatch(came -> came.opcode() == NOTIFICATION);
  }

  @ParameterizedTest
  @EnumSource(Service.class)
  void markedPacketsAreAnsweredByOneNotificationPerInterval(Service service) {
    RawPeer peer = new RawPeer(service);
    int operation = service == Service.UD ? PacketOpcode.SEND_ONLY : PacketOpcode.WRITE_ONLY;
    int opcode = service.opcodeBits() | operation;
    for (int psn = 0; psn < 10; psn++) {
      peer.give(opcode, psn, write(0x03 | psn << 2));
    }
    peer.now += CongestionNotifier.INTERVAL;
    peer.give(opcode, 10, write(0x03));
    List<RawPeer.Came> told =
        peer.sent().stream().filter(came -> came.opcode() == NOTIFICATION).toList();
    assertThat(told).hasSize(2);
    // As a ConnectX-4 Lx sends them.
    assertThat(told)
        .allMatch(came -> came.psn() == 0 && came.trafficClass() == 0xc2 && came.length() == 0);
    TransportCounters counters = peer.station.transport.counters();
    assertThat(counters.congestionMarks).isEqualTo(11);
    assertThat(counters.notificationsSent).isEqualTo(2);
  }

  @ParameterizedTest
  @EnumSource(names = {"RC", "UC"})
  void notificationsReduceTheRateOfAConnection(Service service) {
    RawPeer peer = new RawPeer(service);
    slowDown(peer, 20); // to the minimum rate, 1.25 MB/s
    post(peer, SendOperation.WRITE, 100);
    peer.run();
    peer.sent();
    // 4 packets of 256 and 62 bytes take 1.02 ms.
    assertThat(bytesIn(peer, 1_100_000)).isBetween(2L * MTU, 6L * MTU);
    assertThat(peer.station.transport.counters().notificationsReceived).isEqualTo(20);
  }

  @Test
  void packetsOfALimitedConnectionRequestAcks() {
    RawPeer peer = new RawPeer(Service.RC);
    slowDown(peer, 20);
    post(peer, SendOperation.WRITE, 100);
    peer.run();
    assertThat(peer.sent()).isNotEmpty().allMatch(RawPeer.Came::ackRequest);
  }

  @Test
  void rateRecoversByItself() {
    RawPeer peer = new RawPeer(Service.UC);
    slowDown(peer, 20);
    peer.now += 1_000_000_000;
    post(peer, SendOperation.SEND, 100);
    peer.run();
    assertThat(peer.sent()).hasSize(100);
    assertThat(peer.station.transport.nextDeadline()).isEqualTo(Long.MAX_VALUE);
  }

  @ParameterizedTest
  @EnumSource(names = {"RTR", "RTS"})
  void readResponsesAreSlowedDownToo(QueuePairState state) {
    RawPeer peer = new RawPeer(Service.RC);
    peer.station.state = state;
    peer.station.transport.modified(Station.QPN, state);
    slowDown(peer, 20);
    peer.give(PacketOpcode.READ_REQUEST, 0, packet -> packet.dmaLength = 100 * MTU);
    peer.sent();
    assertThat(bytesIn(peer, 1_100_000)).isBetween(2L * MTU, 6L * MTU);
  }

  @Test
  void acknowledgementsAreNotSlowedDown() {
    RawPeer peer = new RawPeer(Service.RC);
    slowDown(peer, 20);
    post(peer, SendOperation.WRITE, 100);
    peer.run();
    peer.sent();
    peer.give(PacketOpcode.WRITE_ONLY, 0, write(0));
    assertThat(peer.sent())
        .extracting(RawPeer.Came::opcode)
        .containsExactly(PacketOpcode.ACKNOWLEDGE);
  }

  @Test
  void slowConnectionDoesNotTimeOut() {
    RawPeer peer = new RawPeer(Service.RC);
    peer.station.ackTimeout = 8; // 1.05 ms
    slowDown(peer, 20);
    post(peer, SendOperation.WRITE, 40);
    for (int steps = 0; peer.station.done.isEmpty() && steps < 1_000; steps++) {
      peer.run();
      List<RawPeer.Came> sent = peer.sent();
      if (sent.isEmpty()) {
        peer.pass();
      } else {
        peer.answer(0x1f, sent.getLast().psn());
      }
    }
    assertThat(peer.station.done)
        .extracting(Station.Done::status)
        .containsExactly(WorkStatus.SUCCESS);
    assertThat(peer.station.transport.counters().timeouts).isZero();
  }

  @Test
  void forgedNotificationFromAnotherAddressIsDropped() {
    RawPeer peer = new RawPeer(Service.RC);
    peer.give(NOTIFICATION, 0, packet -> packet.sourceIpv4(0x0a00_0001));
    assertThat(peer.station.transport.counters().notificationsReceived).isZero();
  }
}

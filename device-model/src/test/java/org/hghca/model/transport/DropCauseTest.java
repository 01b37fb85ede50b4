package org.hghca.model.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.function.Consumer;
import org.hghca.wire.DropCause;
import org.hghca.wire.Packet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** A packet that a transport refuses changes nothing, is not answered, and is counted. */
class DropCauseTest {
  private static final int OWN = 0x0a00_0002;
  private static final int PEER = 0x0a00_0001;
  private static final int UC = 0x20;
  private static final int UD = 0x60;
  private static final int SEND_ONLY = 0x04;
  private static final int SEND_LAST_INVALIDATE = 0x16;
  private static final int SEND_ONLY_INVALIDATE = 0x17;
  private static final int ACKNOWLEDGE = 0x11;

  private static Line line(Service service) {
    Line line = new Line(service);
    line.b.sourceIp = OWN;
    line.b.destinationIp = PEER;
    line.b.receives.add(request -> request.pieces.add(0, Station.KEY, 100));
    return line;
  }

  /** Gives the station a SEND of its peer, or a changed one. */
  private static void give(Line line, int opcode, Consumer<Packet> change) {
    Packet packet = line.pool.take();
    packet.destinationMac = Line.B;
    packet.destinationQpn = Station.QPN;
    packet.sourceIpv4(PEER);
    packet.destinationIpv4(OWN);
    packet.opcode = opcode;
    packet.queueKey = line.b.queueKey;
    packet.psn = 0;
    packet.length = 8;
    packet.ackRequest = true;
    change.accept(packet);
    line.b.transport.receive(packet);
    line.run();
  }

  private static void assertDropped(Line line, DropCause cause) {
    assertThat(line.b.transport.counters().drops.byCause()).isEqualTo(Map.of(cause, 1L));
    assertThat(line.seen).isEmpty();
    assertThat(line.b.done).isEmpty();
    assertThat(line.b.events).isEmpty();
    assertThat(line.b.receives).hasSize(1);
    assertThat(line.b.expectedPsn).isZero();
  }

  private static Consumer<Packet> addresses(String name) {
    return switch (name) {
      case "own" -> packet -> {};
      case "another source" -> packet -> packet.sourceIpv4(PEER + 1);
      case "another destination" -> packet -> packet.destinationIpv4(OWN + 1);
      case "no source" -> packet -> packet.sourceIpv4(0);
      case "no destination" -> packet -> packet.destinationIpv4(0);
      case "source of IPv6" -> packet -> packet.sourceIpHigh = 0xfe80L << 48;
      case "destination of IPv6" -> packet -> packet.destinationIpHigh = 0xfe80L << 48;
      case "swapped" ->
          packet -> {
            packet.sourceIpv4(OWN);
            packet.destinationIpv4(PEER);
          };
      default -> throw new AssertionError(name);
    };
  }

  @ParameterizedTest
  @EnumSource(Service.class)
  void packetWithTheAddressesOfTheConnectionIsAccepted(Service service) {
    Line line = line(service);
    give(line, service.opcodeBits() | SEND_ONLY, addresses("own"));
    assertThat(line.b.done).extracting(Station.Done::status).containsExactly(WorkStatus.SUCCESS);
    assertThat(line.b.transport.counters().drops.total()).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "another source",
    "another destination",
    "no source",
    "no destination",
    "source of IPv6",
    "destination of IPv6",
    "swapped"
  })
  void packetWithOtherAddressesThanTheConnectionIsDropped(String name) {
    for (Service service : new Service[] {Service.RC, Service.UC}) {
      Line line = line(service);
      give(line, service.opcodeBits() | SEND_ONLY, addresses(name));
      assertDropped(line, DropCause.ADDRESS);
      give(line, service.opcodeBits() | SEND_ONLY, addresses("own"));
      assertThat(line.b.done).hasSize(1);
    }
  }

  @Test
  void ackWithOtherAddressesAcknowledgesNothing() {
    Line line = line(Service.RC);
    line.loses = number -> number == 0;
    line.b.post(
        request -> {
          request.operation = SendOperation.WRITE;
          request.remoteKey = Station.KEY;
          request.pieces.add(0, Station.KEY, 8);
        });
    line.run();
    line.seen.clear();
    give(
        line,
        ACKNOWLEDGE,
        packet -> {
          packet.syndrome = 0x1f;
          packet.length = 0;
          packet.sourceIpv4(PEER + 1);
        });
    assertDropped(line, DropCause.ADDRESS);
    give(
        line,
        ACKNOWLEDGE,
        packet -> {
          packet.syndrome = 0x1f;
          packet.length = 0;
        });
    assertThat(line.b.done).extracting(Station.Done::status).containsExactly(WorkStatus.SUCCESS);
  }

  /** Datagrams may have any source. */
  @Test
  void datagramWithOtherAddressesIsAccepted() {
    Line line = line(Service.UD);
    give(line, UD | SEND_ONLY, addresses("another source"));
    assertThat(line.b.done).hasSize(1);
  }

  @Test
  void packetForAnUnknownQueuePairIsDropped() {
    Line line = line(Service.RC);
    give(line, SEND_ONLY, packet -> packet.destinationQpn = Station.QPN + 1);
    assertDropped(line, DropCause.NO_QUEUE_PAIR);
  }

  @ParameterizedTest
  @CsvSource({"RC, UC", "RC, UD", "UC, RC", "UC, UD", "UD, RC", "UD, UC"})
  void packetOfAnotherServiceIsDropped(Service service, Service other) {
    Line line = line(service);
    give(line, other.opcodeBits() | SEND_ONLY, packet -> {});
    assertDropped(line, DropCause.SERVICE);
  }

  @ParameterizedTest
  @EnumSource(Service.class)
  void packetForAQueuePairThatDoesNotReceiveIsDropped(Service service) {
    Line line = line(service);
    line.b.state = QueuePairState.INIT;
    give(line, service.opcodeBits() | SEND_ONLY, packet -> {});
    assertDropped(line, DropCause.STATE);
  }

  @Test
  void datagramWithAnotherQkeyIsDropped() {
    Line line = line(Service.UD);
    give(line, UD | SEND_ONLY, packet -> packet.queueKey++);
    assertDropped(line, DropCause.QUEUE_KEY);
  }

  @ParameterizedTest
  @CsvSource({"" + SEND_LAST_INVALIDATE, "" + SEND_ONLY_INVALIDATE})
  void sendThatInvalidatesIsDropped(int opcode) {
    Line line = line(Service.RC);
    give(line, opcode, packet -> {});
    assertDropped(line, DropCause.UNSUPPORTED);
  }

  @ParameterizedTest
  @EnumSource(Service.class)
  void congestionNotificationToAQueuePairThatServesNobodyIsDropped(Service service) {
    Line line = line(service);
    line.b.state = QueuePairState.INIT;
    give(line, 0x81, packet -> packet.length = 0);
    assertDropped(line, DropCause.STATE);
  }

  @Test
  void unexpectedPacketOfAnUnreliableConnectionIsDropped() {
    Line line = line(Service.UC);
    give(line, UC | ACKNOWLEDGE, packet -> packet.length = 0);
    assertDropped(line, DropCause.UNWANTED);
  }
}

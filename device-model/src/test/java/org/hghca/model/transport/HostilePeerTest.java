package org.hghca.model.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A transport whose peer sends forged packets between the valid ones: any opcode and length,
 * numbers near the expected ones, unsolicited responses. It never fails internally, comes to rest,
 * completes each request once and in order, and works after a reset. {@code -Dhghca.fuzz=N} runs N
 * rounds of each service instead of the build's.
 */
@Timeout(600)
class HostilePeerTest {
  private static final int ROUNDS = Integer.getInteger("hghca.fuzz", 12);
  private static final int PACKETS = 2_000;
  private static final int SLOT = 4096;
  private static final int SLOTS = 32;
  private static final int PSN_MASK = 0xff_ffff;

  static Stream<Arguments> rounds() {
    return Stream.of(Service.RC, Service.UC, Service.UD)
        .flatMap(
            service ->
                Stream.iterate(0L, seed -> seed < ROUNDS, seed -> seed + 1)
                    .map(seed -> Arguments.of(service, seed)));
  }

  @ParameterizedTest(name = "{0}, seed {1}")
  @MethodSource("rounds")
  void packetsOfAnyContentDoNoHarmBeyondAReset(Service service, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Line line = new Line(service).hostile(random.split(), 0.01, 0.01, 0.01);
    line.a.nextSendPsn = line.b.expectedPsn = PSN_MASK - random.nextInt(500);
    line.b.nextSendPsn = line.a.expectedPsn = PSN_MASK - random.nextInt(500);
    Posted left = new Posted(line.a, line.b, service);
    Posted right = new Posted(line.b, line.a, service);
    for (int i = 0; i < PACKETS; i++) {
      Posted to = random.nextBoolean() ? left : right;
      switch (random.nextInt(4)) {
        case 0 -> to.send(random);
        case 1 -> to.receive(random);
        default -> to.station.port.deliver(packet(line, to, service, random));
      }
      if (random.nextInt(3) == 0) {
        line.run();
      }
      if (random.nextInt(20) == 0) {
        line.pass();
      }
      left.check();
      right.check();
      if (line.a.state == QueuePairState.ERR || line.b.state == QueuePairState.ERR) {
        line.run();
        left.check();
        right.check();
        renew(line, left, right);
      }
    }
    for (int i = 0; i < 10_000 && line.pass(); i++) {
      left.check(); // until it rests
    }
    renew(line, left, right);
    right.receive(random);
    left.send(random);
    line.run();
    left.check();
  }

  /** A new connection, at both ends. */
  private static void renew(Line line, Posted left, Posted right) {
    for (Posted each : new Posted[] {left, right}) {
      each.station.transport.reset(Station.QPN);
      each.forget();
    }
    line.run(); // packets in flight
    for (Posted each : new Posted[] {left, right}) {
      each.forget();
      each.station.state = QueuePairState.RTS;
      each.station.transport.modified(Station.QPN, QueuePairState.RTS);
    }
    line.a.nextSendPsn = line.a.oldestUnackedPsn = line.b.expectedPsn;
    line.b.nextSendPsn = line.b.oldestUnackedPsn = line.a.expectedPsn;
  }

  private static Packet packet(Line line, Posted to, Service service, SplittableRandom random) {
    Packet packet = line.pool.take();
    int bits =
        switch (service) {
          case RC -> PacketOpcode.RC;
          case UC -> PacketOpcode.UC;
          default -> PacketOpcode.UD;
        };
    packet.destinationMac = to.station.port.mac();
    packet.sourceMac = random.nextLong() & 0xffff_ffff_ffffL;
    packet.opcode =
        random.nextInt(16) == 0
            ? random.nextInt(256)
            : bits | random.nextInt(PacketOpcode.FETCH_ADD + 1);
    int operation = packet.opcode & PacketOpcode.OPERATION_MASK;
    packet.destinationQpn = random.nextInt(32) == 0 ? random.nextInt(1 << 24) : Station.QPN;
    int near =
        PacketOpcode.isResponse(operation) ? to.station.oldestUnackedPsn : to.station.expectedPsn;
    packet.psn =
        random.nextInt(16) == 0
            ? random.nextInt(1 << 24)
            : near + (random.nextInt(3) == 0 ? random.nextInt(9) - 4 : 0) & PSN_MASK;
    packet.solicited = random.nextBoolean();
    packet.ackRequest = random.nextBoolean();
    packet.remoteAddress =
        random.nextInt(8) == 0 ? random.nextLong() : random.nextInt(SLOTS * SLOT) & -8;
    packet.remoteKey = random.nextInt(8) == 0 ? random.nextInt() : Station.KEY;
    packet.length =
        switch (random.nextInt(4)) {
          case 0 -> 0;
          case 1 -> random.nextInt(Packet.MAX_PAYLOAD + 1);
          default -> to.station.mtu;
        };
    packet.dmaLength =
        switch (random.nextInt(4)) {
          case 0 -> random.nextInt();
          case 1 -> random.nextInt(1 << 16);
          default -> packet.length;
        };
    packet.swapAdd = random.nextLong();
    packet.compare = random.nextLong();
    packet.original = random.nextLong();
    packet.queueKey = random.nextInt(8) == 0 ? random.nextInt() : to.station.queueKey;
    packet.sourceQpn = random.nextInt(1 << 24);
    packet.syndrome = random.nextInt(4) == 0 ? random.nextInt(256) : 0x1f;
    packet.msn = random.nextInt(1 << 24);
    packet.immediate = random.nextInt();
    return packet;
  }

  /** The requests of a station, and how many of them are complete. */
  private static final class Posted {
    private final Station station;
    private final Station peer;
    private final Service service;
    private int sends;
    private int receives;
    private int sendsDone;
    private int receivesDone;

    Posted(Station station, Station peer, Service service) {
      this.station = station;
      this.peer = peer;
      this.service = service;
    }

    void forget() {
      station.sends.clear();
      station.receives.clear();
      station.done.clear();
      sendsDone = sends;
      receivesDone = receives;
    }

    void send(SplittableRandom random) {
      int position = sends++;
      List<SendOperation> operations = new ArrayList<>();
      operations.add(SendOperation.SEND);
      operations.add(SendOperation.SEND_IMM);
      if (service != Service.UD) {
        operations.add(SendOperation.WRITE);
        operations.add(SendOperation.WRITE_IMM);
      }
      if (service == Service.RC) {
        operations.add(SendOperation.READ);
        operations.add(SendOperation.FETCH_ADD);
        operations.add(SendOperation.COMPARE_SWAP);
      }
      SendOperation operation = operations.get(random.nextInt(operations.size()));
      boolean atomic =
          operation == SendOperation.FETCH_ADD || operation == SendOperation.COMPARE_SWAP;
      int bytes = atomic ? Long.BYTES : random.nextInt(service == Service.UD ? station.mtu : SLOT);
      long at = (long) random.nextInt(SLOTS) * SLOT;
      station.post(
          s -> {
            s.position = position;
            s.operation = operation;
            s.remoteAddress = at;
            s.remoteKey = Station.KEY;
            s.pieces.add(at, Station.KEY, bytes);
            if (service == Service.UD) {
              s.destinationMac = peer.port.mac();
              s.destinationQpn = Station.QPN;
              s.queueKey = peer.queueKey;
            }
          });
    }

    void receive(SplittableRandom random) {
      int position = receives++;
      long at = (long) random.nextInt(SLOTS) * SLOT;
      station.receive(position, at, SLOT);
    }

    /** Each completion is that of the oldest incomplete request. */
    void check() {
      for (Station.Done done : station.done) {
        if (done.send()) {
          assertThat(done.position()).isEqualTo(sendsDone++);
        } else {
          assertThat(done.position()).isEqualTo(receivesDone++);
        }
      }
      station.done.clear();
      assertThat(sendsDone).isLessThanOrEqualTo(sends);
      assertThat(receivesDone).isLessThanOrEqualTo(receives);
    }
  }
}

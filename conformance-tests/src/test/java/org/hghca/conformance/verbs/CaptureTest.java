package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.profile.OnlyOn;
import org.hghca.model.Disturbance;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.WrOpcode;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketPool;
import org.hghca.wire.capture.CaptureReader;
import org.hghca.wire.capture.CapturedFrame;
import org.hghca.wire.capture.Direction;
import org.hghca.wire.frame.FrameDecoder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code capture=} in the locator of a software HCA: its packets, in a file. */
class CaptureTest {
  private static final int LEFT_PSN = 0x1000;
  private static final int RIGHT_PSN = 0x2000;

  @TempDir Path folder;

  /** A packet of a capture. */
  private record Seen(
      Direction direction,
      int opcode,
      int psn,
      int qpn,
      int length,
      boolean damaged,
      Instant time) {
    @Override
    public String toString() {
      return "%s %02x %x%s".formatted(direction, opcode, psn, damaged ? " damaged" : "");
    }
  }

  private Path left() {
    return folder.resolve("left.pcapng");
  }

  private Path right() {
    return folder.resolve("right.pcapng");
  }

  private RcPair captured() {
    return new RcSetup()
        .mtu(Mtu.MTU_1024)
        .psns(LEFT_PSN, RIGHT_PSN)
        .retries(1, 7, 6, 7)
        .on(Fabric.inline("&capture=" + left(), "&capture=" + right()));
  }

  private static void transfer(RcPair pair) {
    Transfer transfer = new Transfer(pair.left, pair.right, 1);
    transfer.run(WrOpcode.RDMA_WRITE, Pieces.one(0, 2500), Pieces.one(64, 2500));
    transfer.run(WrOpcode.SEND, Pieces.one(0, 10), Pieces.one(0, 10));
    transfer.run(WrOpcode.RDMA_READ, Pieces.one(0, 2048), Pieces.one(0, 2048));
  }

  private static List<Seen> read(Path file) throws IOException {
    Packet packet = new PacketPool().take();
    List<Seen> seen = new ArrayList<>();
    try (CaptureReader reader = new CaptureReader(Files.newInputStream(file))) {
      for (Optional<CapturedFrame> next = reader.next(); next.isPresent(); next = reader.next()) {
        CapturedFrame frame = next.get();
        boolean taken =
            new FrameDecoder(frame.bytes()).decode(0, (int) frame.bytes().byteSize(), packet);
        assertThat(packet.damaged).isEqualTo(!taken);
        seen.add(
            new Seen(
                frame.direction(),
                packet.opcode,
                packet.psn,
                packet.destinationQpn,
                packet.length,
                packet.damaged,
                frame.time().orElseThrow()));
      }
    }
    return seen;
  }

  @Test
  @OnlyOn(value = "s", why = "an RTL card splits messages into other packets")
  void everyPacketIsCapturedInOrder() throws IOException {
    int leftQpn;
    int rightQpn;
    Duration end;
    try (RcPair pair = captured()) {
      transfer(pair);
      leftQpn = pair.left.qp.number();
      rightQpn = pair.right.qp.number();
      end = pair.fabric.now();
    }
    List<Seen> seen = read(left());
    assertThat(seen.stream().filter(packet -> packet.direction() == Direction.OUT))
        .extracting(Seen::toString)
        .containsExactly("OUT 06 1000", "OUT 07 1001", "OUT 08 1002", "OUT 04 1003", "OUT 0c 1004");
    assertThat(seen.stream().filter(packet -> packet.direction() == Direction.IN))
        .extracting(Seen::toString)
        .containsExactly("IN 11 1002", "IN 11 1003", "IN 0d 1004", "IN 0f 1005");
    assertThat(seen).extracting(Seen::time).isSorted();
    assertThat(Duration.between(Instant.EPOCH, seen.getLast().time())).isLessThanOrEqualTo(end);
    for (Seen packet : seen) {
      assertThat(packet.qpn()).isEqualTo(packet.direction() == Direction.OUT ? rightQpn : leftQpn);
    }
    assertThat(seen.stream().filter(packet -> packet.opcode() == 0x08).findFirst())
        .hasValueSatisfying(packet -> assertThat(packet.length()).isEqualTo(2500 - 2048));
    assertThat(reversed(read(right())))
        .isEqualTo(seen.stream().map(Seen::toString).sorted().toList());
  }

  /** Packets seen at the other end of the cable. */
  private static List<String> reversed(List<Seen> packets) {
    return packets.stream()
        .map(Seen::toString)
        .map(text -> text.startsWith("OUT") ? "IN" + text.substring(3) : "OUT" + text.substring(2))
        .sorted()
        .toList();
  }

  @Test
  @Needs(Feature.LOSS_RECOVERY)
  void disturbancesOfTheCableAreSeenAtTheReceiver() throws IOException {
    long corrupted;
    long dropped;
    long duplicated;
    try (RcPair pair = captured()) {
      pair.fabric
          .cable()
          .disturb(Disturbance.NONE.withDrop(0.1).withCorrupt(0.1).withDuplicate(0.1));
      for (int i = 0; i < 20; i++) {
        transfer(pair);
      }
      pair.fabric.settle();
      corrupted = pair.fabric.cable().counters().corrupted();
      dropped = pair.fabric.cable().counters().dropped();
      duplicated = pair.fabric.cable().counters().duplicated();
    }
    List<Seen> both = new ArrayList<>(read(left()));
    both.addAll(read(right()));
    long sent = both.stream().filter(packet -> packet.direction() == Direction.OUT).count();
    assertThat(corrupted).isPositive();
    assertThat(both.stream().filter(Seen::damaged))
        .hasSize((int) corrupted)
        .allMatch(packet -> packet.direction() == Direction.IN);
    assertThat(both).hasSize((int) (2 * sent - dropped + duplicated));
  }

  @Test
  void wiresharkReadsTheCapture() throws IOException, InterruptedException {
    try (RcPair pair = captured()) {
      transfer(pair);
    }
    for (Path file : List.of(left(), right())) {
      List<Seen> seen = read(file);
      assertThat(seen).hasSizeGreaterThan(7);
      assertThat(dissect(file))
          .isEqualTo(
              seen.stream()
                  .map(
                      packet ->
                          "|0x%08x|%d|%d"
                              .formatted(
                                  packet.direction() == Direction.IN ? 1 : 2,
                                  packet.opcode(),
                                  packet.psn()))
                  .toList());
    }
  }

  /** For each packet: malformed parts, direction, opcode and PSN. */
  private static List<String> dissect(Path file) throws IOException, InterruptedException {
    List<String> fields =
        List.of(
            "_ws.malformed",
            "frame.packet_flags_direction",
            "infiniband.bth.opcode",
            "infiniband.bth.psn");
    // Wireshark guesses the type of payloads; here they are random.
    return Tshark.fields(
        file, fields, "--disable-heuristic", "eth_over_ib", "--disable-protocol", "rpcordma");
  }
}

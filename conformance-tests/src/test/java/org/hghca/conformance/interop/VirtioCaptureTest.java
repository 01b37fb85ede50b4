package org.hghca.conformance.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.hghca.conformance.verbs.Tshark;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpType;
import org.hghca.verbs.WcStatus;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketPool;
import org.hghca.wire.capture.CaptureReader;
import org.hghca.wire.capture.CapturedFrame;
import org.hghca.wire.capture.Direction;
import org.hghca.wire.frame.FrameDecoder;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@WithSoftRoce
@DisplayName("a capture at the virtio card")
class VirtioCaptureTest {
  private static final int BYTES = 5000;
  private static final int GRH = 40;
  private static final int QKEY = 0x1234;

  @TempDir Path folder;

  @Test
  @DisplayName("holds frames of every kind, with right checksums, and Wireshark reads them all")
  void everyFrameIsWellFormed(GuestVerbs guest) throws IOException, InterruptedException {
    Path capture = folder.resolve("card.pcapng");
    try (Bench bench = Bench.open(Card.VIRTIO, guest, "&capture=" + capture)) {
      guest.ask("datagram", "address", Bench.ADDRESS, "port", 9);
      connected(bench, QpType.RC);
      connected(bench, QpType.UC);
      datagrams(bench, guest);
    }
    List<String> seen =
        Tshark.fields(
            capture,
            List.of("_ws.malformed", "ip.checksum.status", "infiniband.bth.opcode", "udp.dstport"),
            "-o",
            "ip.check_checksum:TRUE",
            "--disable-heuristic",
            "eth_over_ib",
            "--disable-protocol",
            "rpcordma");
    // RC: SEND, WRITE, READ and what answers them; UC: SEND and WRITE; UD: SEND.
    assertThat(seen)
        .contains("|1|0|4791", "|1|6|4791", "|1|12|4791", "|1|13|4791", "|1|17|4791")
        .contains("|1|32|4791", "|1|38|4791", "|1|100|4791")
        .contains("|1||9")
        .allMatch(frame -> frame.startsWith("|1|") || frame.equals("|||"), "not malformed");
    long roce = seen.stream().filter(frame -> frame.endsWith("|4791")).count();
    Map<Direction, Integer> right = packets(capture);
    assertThat(right).containsOnlyKeys(Direction.IN, Direction.OUT);
    assertThat((long) right.get(Direction.IN) + right.get(Direction.OUT)).isEqualTo(roce);
  }

  private static void connected(Bench bench, QpType type) {
    try (Pair pair = Pair.connect(bench, type, Mtu.MTU_1024, 2L * BYTES)) {
      for (Pair.Asker asker : Pair.Asker.values()) {
        End from = pair.end(asker);
        End to = pair.other(asker);
        to.receive(1, 0, BYTES);
        from.send(Work.write(1, 0, BYTES, to.address() + BYTES, to.rkey()));
        from.send(Work.send(2, 0, BYTES));
        assertThat(from.poll(2)).extracting(Result::status).containsOnly(WcStatus.SUCCESS);
        assertThat(to.poll(1)).hasSize(1);
        if (type == QpType.RC) {
          from.send(Work.read(3, 0, BYTES, to.address(), to.rkey()));
          assertThat(from.poll(1)).extracting(Result::status).containsOnly(WcStatus.SUCCESS);
        }
      }
    }
  }

  private static void datagrams(Bench bench, GuestVerbs guest) {
    try (OurEnd ours = new OurEnd(bench, QpType.UD, BYTES);
        GuestEnd guests = new GuestEnd(guest, QpType.UD, BYTES);
        AddressHandle handle =
            bench
                .domain()
                .createAddressHandle(AddressVector.to(bench.guestGid(), bench.ownGidIndex()))) {
      ours.queuePair().activate(QKEY);
      guests.ask("activate", "qkey", QKEY);
      guests.receive(1, 0, GRH + 1000);
      ours.send(Work.send(2, 0, 1000), handle, guests.qpn(), QKEY);
      assertThat(guests.poll(1)).hasSize(1);
    }
  }

  /** How many packets of RoCE a capture has of each direction, by their checksums. */
  private static Map<Direction, Integer> packets(Path capture) throws IOException {
    Map<Direction, Integer> packets = new EnumMap<>(Direction.class);
    Packet packet = new PacketPool().take();
    try (CaptureReader reader = new CaptureReader(Files.newInputStream(capture))) {
      for (Optional<CapturedFrame> next = reader.next(); next.isPresent(); next = reader.next()) {
        MemorySegment frame = next.get().bytes();
        if (new FrameDecoder(frame).decode(0, (int) frame.byteSize(), packet)) {
          packets.merge(next.get().direction(), 1, Integer::sum);
        }
      }
    }
    return packets;
  }
}

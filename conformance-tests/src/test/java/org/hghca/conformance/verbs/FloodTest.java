package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.SplittableRandom;
import jdk.net.ExtendedSocketOptions;
import org.hghca.conformance.profile.OnlyOn;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.model.HcaCounters;
import org.hghca.model.ModelProvider;
import org.hghca.model.SoftwareHca;
import org.hghca.verbs.WrOpcode;
import org.hghca.vfio.Locator;
import org.hghca.wire.DropCause;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;
import org.hghca.wire.PacketPool;
import org.hghca.wire.frame.FrameEncoder;
import org.hghca.wire.frame.FrameLayout;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Packets with a right invariant CRC from the address of a peer, made by somebody who knows neither
 * queue pair numbers nor PSNs nor keys, or only the numbers: they are counted, and the peer's own
 * connection moves its data.
 */
@OnlyOn(value = "s", why = "the packets of the RTL are not RoCE's")
@Timeout(60)
class FloodTest {
  private static final String LEFT = "model:flood-left?net=udp:127.0.0.41";
  private static final String RIGHT = "model:flood-right?net=udp:127.0.0.42";
  private static final int PORT = 0xd123;

  /** Ethernet, IPv4 and UDP, which the socket adds. */
  private static final int HEADERS = 14 + 20 + 8;

  private static final int FORGED = 20_000;

  /** The number of packets in flight at a time: the socket's buffer holds them. */
  private static final int BURST = 64;

  private final SplittableRandom random = new SplittableRandom(11);
  private final Packet packet = new PacketPool().take();
  private final MemorySegment frame = Arena.ofAuto().allocate(FrameLayout.MAX_FRAME);
  private final FrameEncoder encoder = new FrameEncoder(frame);

  @BeforeEach
  void ownDevices() {
    TestProfile.requireModel();
  }

  private static SoftwareHca hca(String locator) {
    return ModelProvider.hca(Locator.parse(locator)).orElseThrow();
  }

  private ByteBuffer forged(int qpn) {
    packet.sourceIpv4(0x7f00_0029);
    packet.destinationIpv4(0x7f00_002a);
    packet.udpSourcePort = PORT;
    packet.opcode = random.nextInt(PacketOpcode.READ_REQUEST + 1);
    packet.destinationQpn = qpn;
    packet.psn = random.nextInt(1 << 24);
    packet.remoteAddress = random.nextLong();
    packet.remoteKey = random.nextInt();
    packet.dmaLength = random.nextInt(1 << 20);
    packet.length = packet.opcode == PacketOpcode.READ_REQUEST ? 0 : random.nextInt(64);
    packet.ackRequest = true;
    int length = encoder.encode(packet, 0);
    assertThat(length).isPositive();
    return frame.asSlice(HEADERS, length - HEADERS).asByteBuffer();
  }

  @Test
  void forgedPacketsAreCountedAndTheConnectionMovesItsData() throws IOException {
    try (RcPair pair = new RcSetup().bufferSize(1 << 17).on(Fabric.on(LEFT, RIGHT));
        DatagramChannel forger = DatagramChannel.open()) {
      forger.setOption(ExtendedSocketOptions.IP_DONTFRAGMENT, true);
      forger.bind(new InetSocketAddress("127.0.0.41", PORT));
      InetSocketAddress to = new InetSocketAddress("127.0.0.42", FrameLayout.ROCE_PORT);
      Transfer transfer = new Transfer(pair.left, pair.right, 3);
      int unknown = 0;
      for (int sent = 0; sent < FORGED; sent += BURST) {
        long before = hca(RIGHT).linkCounters().orElseThrow().received();
        for (int i = 0; i < BURST; i++) {
          boolean knowsNumber = random.nextInt(8) == 0;
          int other = 1 << 20 | random.nextInt(1 << 23);
          unknown += knowsNumber ? 0 : 1;
          forger.send(forged(knowsNumber ? pair.right.qp.number() : other), to);
        }
        pair.fabric.await(
            () -> hca(RIGHT).linkCounters().orElseThrow().received() >= before + BURST,
            () -> "forged packets have not come");
        if (sent % (16 * BURST) == 0) {
          transfer.run(WrOpcode.SEND, Pieces.one(0, 40_000), Pieces.one(0, 40_000));
          transfer.run(WrOpcode.RDMA_READ, Pieces.one(0, 40_000), Pieces.one(0, 40_000));
        }
      }
      transfer.run(WrOpcode.RDMA_WRITE, Pieces.one(0, 65_536), Pieces.one(64, 65_536));
      HcaCounters right = hca(RIGHT).counters();
      assertThat(right.drops()).containsEntry(DropCause.NO_QUEUE_PAIR, (long) unknown);
      assertThat(right.duplicates()).as("PSNs before the expected one").isPositive();
      assertThat(right.faults()).isZero();
      assertThat(hca(RIGHT).linkCounters().orElseThrow().dropped()).isEmpty();
    }
  }
}

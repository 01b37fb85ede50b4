package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.LockSupport;
import jdk.net.ExtendedSocketOptions;
import org.hghca.conformance.profile.OnlyOn;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.linux.Linux;
import org.hghca.linux.SystemCalls;
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
import org.hghca.wire.link.LinkCounters;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.slf4j.LoggerFactory;

/**
 * Packets with a right invariant CRC from the address of a peer, made by somebody who knows neither
 * queue pair numbers nor PSNs nor keys, or only the numbers: they are counted, and the peer's own
 * connection moves its data.
 */
@OnlyOn(value = "s", why = "the packets of the RTL are not RoCE's")
class FloodTest {
  private static final String LEFT = "model:flood-left?net=udp:127.0.6.41";
  private static final String RIGHT = "model:flood-right?net=udp:127.0.6.42";
  private static final int LEFT_IP = 0x7f00_0629;
  private static final int PORT = 0xd123;

  /** Ethernet, IPv4 and UDP, which the socket adds. */
  private static final int HEADERS = 14 + 20 + 8;

  private static final int FORGED = 20_000;

  /** The number of packets in flight at a time: the socket's buffer holds them. */
  private static final int BURST = 64;

  private static final int FLOOD = 128_000;

  /** Packets a second, more than the 10^5 that must do no harm. */
  private static final long FLOOD_RATE = 128_000;

  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

  private final SystemCalls linux = Linux.system();
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

  private ByteBuffer forged(int sourceIp, int sourcePort, int qpn) {
    packet.sourceIpv4(sourceIp);
    packet.destinationIpv4(0x7f00_062a);
    packet.udpSourcePort = sourcePort;
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
      forger.bind(new InetSocketAddress("127.0.6.41", PORT));
      InetSocketAddress to = new InetSocketAddress("127.0.6.42", FrameLayout.ROCE_PORT);
      Transfer transfer = new Transfer(pair.left, pair.right, 3);
      int unknown = 0;
      for (int sent = 0; sent < FORGED; sent += BURST) {
        long before = hca(RIGHT).linkCounters().orElseThrow().received();
        for (int i = 0; i < BURST; i++) {
          boolean knowsNumber = random.nextInt(8) == 0;
          int other = 1 << 20 | random.nextInt(1 << 23);
          unknown += knowsNumber ? 0 : 1;
          forger.send(forged(LEFT_IP, PORT, knowsNumber ? pair.right.qp.number() : other), to);
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

  /** A thread that sends the same packets again and again, 64 by each system call. */
  private final class Flood implements Callable<Long>, AutoCloseable {
    private static final int MESSAGE = 64; // struct mmsghdr
    private static final int VECTOR = 16;
    private static final int SLOT = 256;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment messages = arena.allocate(BURST * MESSAGE, 8);
    private final FutureTask<Long> nanos = new FutureTask<>(this);
    private final int socket;

    Flood() {
      socket = linux.socket(2, 2 | 0x80000, 0); // AF_INET, SOCK_DGRAM
      MemorySegment name = arena.allocate(16, 8);
      bytes(name, "0200d1247f00062b"); // 127.0.6.43, port d124h
      assertThat(linux.bind(socket, name)).isZero();
      MemorySegment neverFragment = arena.allocate(4, 4);
      neverFragment.set(ValueLayout.JAVA_INT, 0, 2);
      assertThat(linux.setsockopt(socket, 0, 10, neverFragment)).isZero();
      MemorySegment to = arena.allocate(16, 8);
      bytes(to, "020012b77f00062a"); // 127.0.6.42, port 4791
      MemorySegment vectors = arena.allocate(BURST * VECTOR, 8);
      MemorySegment packets = arena.allocate(BURST * SLOT, 8);
      for (int i = 0; i < BURST; i++) {
        ByteBuffer forged = forged(0x7f00_062b, 0xd124, 1 << 20 | random.nextInt(1 << 23));
        MemorySegment.copy(
            MemorySegment.ofBuffer(forged), 0, packets, (long) i * SLOT, forged.remaining());
        vectors.set(LONG, (long) i * VECTOR, packets.address() + (long) i * SLOT);
        vectors.set(LONG, (long) i * VECTOR + 8, forged.remaining());
        messages.set(LONG, (long) i * MESSAGE, to.address());
        messages.set(ValueLayout.JAVA_INT, (long) i * MESSAGE + 8, 16);
        messages.set(LONG, (long) i * MESSAGE + 16, vectors.address() + (long) i * VECTOR);
        messages.set(LONG, (long) i * MESSAGE + 24, 1);
      }
    }

    private static void bytes(MemorySegment memory, String hex) {
      byte[] bytes = HexFormat.of().parseHex(hex);
      MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, bytes.length);
    }

    void start() {
      Thread.ofPlatform().start(nanos);
    }

    /** Sends bursts when they are due, and returns how long that took. */
    @Override
    public Long call() {
      long start = System.nanoTime();
      for (int sent = 0; sent < FLOOD; sent += BURST) {
        LockSupport.parkNanos(start + sent * 1_000_000_000L / FLOOD_RATE - System.nanoTime());
        assertThat(linux.sendmmsg(socket, messages, BURST, 0)).isEqualTo(BURST);
      }
      return System.nanoTime() - start;
    }

    @Override
    public void close() {
      linux.close(socket);
      arena.close();
    }
  }

  /** What the kernel has dropped at the right socket, since nobody read it in time. */
  private static long droppedByKernel() {
    try {
      List<String> socket =
          Files.readAllLines(Path.of("/proc/net/udp")).stream()
              .filter(line -> line.contains(" 2A06007F:12B7 "))
              .toList();
      assertThat(socket).hasSize(1);
      return Long.parseLong(socket.getFirst().strip().split(" +")[12]);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Packets of the flood that the right device has counted. */
  private static long counted() {
    return hca(RIGHT).counters().drops().getOrDefault(DropCause.NO_QUEUE_PAIR, 0L);
  }

  /** All that came out of the right socket. */
  private static long read() {
    LinkCounters counters = hca(RIGHT).linkCounters().orElseThrow();
    return counters.received()
        + counters.dropped().values().stream().mapToLong(Long::longValue).sum();
  }

  @Test
  void floodToQueuePairsThatNobodyHasIsCountedAndNotLogged(TestReporter reporter)
      throws InterruptedException, ExecutionException {
    RcSetup setup = new RcSetup().bufferSize(1 << 17).retries(1, 7, 16, 7); // 268 ms
    Logger log = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
    ListAppender<ILoggingEvent> events = new ListAppender<>();
    int moved = 0;
    try (RcPair pair = setup.on(Fabric.on(LEFT, RIGHT));
        Flood flood = new Flood()) {
      Transfer transfer = new Transfer(pair.left, pair.right, 3);
      events.start();
      log.addAppender(events);
      Level before = log.getLevel();
      log.setLevel(Level.TRACE);
      try {
        flood.start();
        do {
          transfer.run(WrOpcode.SEND, Pieces.one(0, 40_000), Pieces.one(0, 40_000));
          transfer.run(WrOpcode.RDMA_READ, Pieces.one(0, 40_000), Pieces.one(0, 40_000));
          moved++;
        } while (!flood.nanos.isDone());
      } finally {
        log.setLevel(before);
        log.detachAppender(events);
      }
      long nanos = flood.nanos.get();
      long ours = hca(LEFT).linkCounters().orElseThrow().sent();
      // Packets of the flood are messages of one packet, which is read or lost.
      pair.fabric.await(
          () -> counted() + droppedByKernel() >= FLOOD,
          () -> "%d of %d packets, %d dropped".formatted(counted(), FLOOD, droppedByKernel()));
      long lost = droppedByKernel();
      long counted = counted();
      reporter.publishEntry(
          "flood",
          "%d packets/s; %d counted, %d lost by the kernel, of %d; %d transfers meanwhile"
              .formatted(FLOOD * 1_000_000_000L / nanos, counted, lost, FLOOD, moved));
      // Of ours, a message of many packets is lost as one.
      assertThat(read() + lost).as("no packet is read twice").isLessThanOrEqualTo(FLOOD + ours);
      assertThat(counted).as("packets to nobody").isBetween(FLOOD - lost, (long) FLOOD);
      assertThat(hca(RIGHT).linkCounters().orElseThrow().dropped()).isEmpty();
      assertThat(hca(RIGHT).counters().faults()).isZero();
      assertThat(events.list).as("lines of the log, for %d packets", FLOOD).hasSizeLessThan(1_000);
    }
  }
}

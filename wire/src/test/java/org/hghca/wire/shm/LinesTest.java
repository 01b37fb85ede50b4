package org.hghca.wire.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.SplittableRandom;
import org.hghca.linux.Linux;
import org.hghca.linux.SealedFile;
import org.hghca.linux.SystemCalls;
import org.hghca.wire.IpAddress;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;
import org.hghca.wire.PacketPool;
import org.hghca.wire.PortAddresses;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Short records beside a ring, of which both ends are here. */
class LinesTest {
  private static final int RING = Member.SMALLEST_RING;
  private static final PortAddresses LEFT = PortAddresses.NONE.with(0, IpAddress.lowOfIpv4(1));
  private static final PortAddresses RIGHT = PortAddresses.NONE.with(0, IpAddress.lowOfIpv4(2));

  private final Arena arena = Arena.ofShared();
  private final PacketPool pool = new PacketPool();
  private final PairPage written = page();
  private final PairPage read = page();
  private final RingWriter writer = new RingWriter(written, read);
  private final RingReader reader = new RingReader(read, written);
  private int sent;

  private PairPage page() {
    return new PairPage(arena.allocate(PairPage.BYTES, 64));
  }

  @BeforeEach
  void makeARing() {
    SystemCalls linux = Linux.system();
    int file = SealedFile.create(linux, "lines", RING);
    MemorySegment ring = SealedFile.mapTwice(linux, file, RING, true, arena);
    linux.close(file);
    writer.continueIn(ring, RING);
    reader.continueIn(ring, RING);
  }

  @AfterEach
  void close() {
    arena.close();
  }

  /** Sends a packet whose PSN is how many there were before. */
  private Packet send(int opcode, int length) {
    Packet packet = pool.take();
    packet.opcode = opcode;
    packet.psn = sent++;
    packet.sourceIpLow = LEFT.low(0);
    packet.destinationIpLow = RIGHT.low(0);
    packet.length = length;
    End.fill(packet.payload(), length, packet.psn);
    assertThat(writer.hasRoom(RingWriter.size(packet, LEFT, RIGHT))).isTrue();
    writer.write(packet, LEFT, RIGHT);
    return packet;
  }

  private Packet receive() throws ProtocolException {
    assertThat(reader.next()).isEqualTo(RecordHeader.PACKET);
    Packet packet = pool.take();
    reader.read(packet, RIGHT, LEFT, 2, 1);
    reader.skip();
    return packet;
  }

  private static void assertSame(Packet came, Packet sent) {
    assertThat(came.psn).isEqualTo(sent.psn);
    assertThat(came.opcode).isEqualTo(sent.opcode);
    assertThat(came.sourceIpLow).isEqualTo(sent.sourceIpLow);
    assertThat(came.length).isEqualTo(sent.length);
    assertThat(came.payload().asSlice(0, came.length))
        .matches(bytes -> bytes.mismatch(sent.payload().asSlice(0, sent.length)) == -1);
  }

  /** It is seen at once, and the ring has nothing of it. */
  @ParameterizedTest
  @CsvSource({
    PacketOpcode.SEND_ONLY + ",24",
    PacketOpcode.SEND_ONLY_IMM + ",16",
    PacketOpcode.WRITE_ONLY + ",8",
    PacketOpcode.WRITE_ONLY_IMM + ",0",
    PacketOpcode.READ_REQUEST + ",8",
    PacketOpcode.READ_RESPONSE_ONLY + ",16",
    PacketOpcode.ACKNOWLEDGE + ",16",
    PacketOpcode.ATOMIC_ACKNOWLEDGE + ",8",
  })
  void aPacketWithLittlePayloadIsALine(int opcode, int most) throws ProtocolException {
    for (int length = 0; length <= most; length++) {
      assertThat(reader.hasMore()).isFalse();
      Packet packet = send(opcode, length);
      assertThat(reader.hasMore()).isTrue();
      assertSame(receive(), packet);
      assertThat(writer.publish()).as("the reader may sleep").isTrue();
      assertThat(writer.publish()).isFalse();
      assertThat(written.head()).isZero();
      reader.release();
    }
    send(opcode, most + 1);
    assertThat(reader.next()).isZero();
    writer.publish();
    assertThat(written.head()).isPositive();
    assertThat(receive().psn).isEqualTo(most + 1);
  }

  @Test
  void whatIsInTheRingBeforeALineComesFirst() throws ProtocolException {
    send(PacketOpcode.SEND_ONLY, 100);
    send(PacketOpcode.SEND_ONLY, 8);
    assertThat(reader.next()).as("a line behind what was not published").isZero();
    writer.publish();
    send(PacketOpcode.SEND_ONLY, 100);
    for (int i = 0; i < 2; i++) {
      assertThat(receive().psn).isEqualTo(i);
    }
    writer.publish();
    assertThat(receive().psn).isEqualTo(2);
  }

  /**
   * The reader has looked for a line just before one is written, and then finds the ring longer.
   */
  @Test
  void aLineThatIsFollowedByTheRingComesFirst() throws ProtocolException {
    for (int i = 0; i < 1000; i++) {
      assertThat(reader.next()).isZero();
      send(PacketOpcode.SEND_ONLY, 8);
      send(PacketOpcode.SEND_ONLY, 100);
      writer.publish();
      assertThat(receive().psn).isEqualTo(2 * i);
      assertThat(receive().psn).isEqualTo(2 * i + 1);
      reader.release();
    }
  }

  @Test
  void whatFindsNoLineGoesIntoTheRing() throws ProtocolException {
    for (int i = 0; i < Lines.COUNT; i++) {
      send(PacketOpcode.SEND_ONLY, 8);
    }
    writer.publish();
    assertThat(written.head()).isZero();
    send(PacketOpcode.SEND_ONLY, 8);
    writer.publish();
    assertThat(written.head()).isPositive();
    for (int i = 0; i <= Lines.COUNT; i++) {
      assertThat(receive().psn).isEqualTo(i);
    }
  }

  @Test
  void packetsOfAllLengthsComeInOrderAndWhole() throws ProtocolException {
    SplittableRandom random = new SplittableRandom(5);
    ArrayDeque<Packet> flying = new ArrayDeque<>();
    while (sent < 200_000) {
      for (int i = random.nextInt(70); i > 0 && writer.hasRoom(8192); i--) {
        int length = random.nextInt(10) == 0 ? random.nextInt(4097) : random.nextInt(30);
        flying.add(send(PacketOpcode.SEND_ONLY, length));
        if (random.nextInt(3) == 0) {
          writer.publish();
        }
      }
      writer.publish();
      for (int i = random.nextInt(70); i > 0 && !flying.isEmpty(); i--) {
        Packet came = receive();
        Packet expected = flying.remove();
        assertSame(came, expected);
        pool.giveBack(came);
        pool.giveBack(expected);
      }
      reader.release();
    }
    assertThat(written.head()).isPositive();
    assertThat(read.linesTaken()).isGreaterThan(50_000);
  }

  @ParameterizedTest
  @CsvSource({
    "0,2", // a run
    "0,0", // of no kind
    "0,536870913", // a header of two lines
    "25,1025", // longer than a SEND can be
    "9,2561", // longer than a WRITE can be
    "1,25601", // a datagram
  })
  void aLineThatCannotBeEndsTheConnection(int payload, long second) {
    MemorySegment page = written.memory();
    page.set(ValueLayout.JAVA_LONG, PairPage.LINES + 8, second);
    page.set(ValueLayout.JAVA_LONG, PairPage.LINES, 1 << 8 | payload);
    assertThatThrownBy(reader::next).isInstanceOf(ProtocolException.class);
  }

  @Test
  void aLineThatIsNotTheNextOneIsNone() throws ProtocolException {
    MemorySegment page = written.memory();
    page.set(ValueLayout.JAVA_LONG, PairPage.LINES + 8, 1025);
    page.set(ValueLayout.JAVA_LONG, PairPage.LINES, 2 << 8);
    assertThat(reader.next()).isZero();
    assertThat(reader.hasMore()).isFalse();
  }
}

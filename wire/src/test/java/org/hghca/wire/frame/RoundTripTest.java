package org.hghca.wire.frame;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.zip.CRC32;
import org.hghca.wire.Packet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Written frames are read back, field by field. */
class RoundTripTest {
  private static final int SLOT = FrameLayout.MAX_FRAME + 3; // frames start at odd offsets, too

  private final MemorySegment memory = Arena.ofAuto().allocate(3L * SLOT);
  private final FrameEncoder encoder = new FrameEncoder(memory);
  private final FrameDecoder decoder = new FrameDecoder(memory);

  private void roundTrip(Packet packet, int at) {
    memory.fill((byte) 0xaa); // no earlier contents remain
    int length = encoder.encode(packet, at);
    Packet read = Frames.packet();
    assertThat(decoder.decode(at, length, read)).as("%s", decoder.cause()).isTrue();
    Frames.assertSame(read, packet);
    assertThat(memory.asSlice(0, at).toArray(ValueLayout.JAVA_BYTE)).containsOnly(0xaa);
    assertThat(memory.asSlice(at + length).toArray(ValueLayout.JAVA_BYTE)).containsOnly(0xaa);
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 4})
  void everyOpcodeOverBothIpVersionsWithEveryPadding(long seed) {
    RandomGenerator random = new SplittableRandom(seed);
    for (int opcode : Frames.OPCODES) {
      for (int length : new int[] {0, 1, 2, 3, 4, 5, 255, 256, 1024, 4093, 4094, 4095, 4096}) {
        roundTrip(Frames.random(random, opcode, true, length), random.nextInt(1, SLOT));
        roundTrip(Frames.random(random, opcode, false, length), random.nextInt(1, SLOT));
      }
    }
    assertThat(decoder.drops().total()).isZero();
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {11, 12, 13})
  void anyPacketIsReadBack(long seed) {
    RandomGenerator random = new SplittableRandom(seed);
    for (int i = 0; i < 300; i++) {
      roundTrip(Frames.random(random), random.nextInt(1, SLOT));
    }
  }

  /** The CRC, computed independently: of a copy of the frame, with ones in the masked fields. */
  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {21, 22})
  void crcIsThatOfTheMaskedFrame(long seed) {
    RandomGenerator random = new SplittableRandom(seed);
    for (int i = 0; i < 300; i++) {
      Packet packet = Frames.random(random);
      packet.vlan = Packet.NO_VLAN;
      byte[] frame = Frames.encode(packet);
      assertThat(storedCrc(frame)).isEqualTo(maskedCrc(frame));
    }
  }

  private static int storedCrc(byte[] frame) {
    return MemorySegment.ofArray(frame).get(Bytes.CRC, frame.length - 4);
  }

  private static int maskedCrc(byte[] frame) {
    byte[] ip = Frames.part(frame, 14, frame.length - 4);
    boolean ipv4 = ip[0] == 0x45;
    int[] masked = ipv4 ? new int[] {1, 8, 10, 11, 26, 27, 32} : new int[] {1, 2, 3, 7, 46, 47, 52};
    for (int at : masked) {
      ip[at] = (byte) 0xff;
    }
    if (!ipv4) {
      ip[0] |= 0x0f;
    }
    CRC32 crc = new CRC32();
    crc.update("\u00ff".repeat(8).getBytes(java.nio.charset.StandardCharsets.ISO_8859_1));
    crc.update(ip);
    return (int) crc.getValue();
  }

  /** Fields that the network rewrites are not in the CRC. */
  @Test
  void fieldsThatTheNetworkChangesKeepTheCrcCorrect() {
    RandomGenerator random = new SplittableRandom(31);
    for (int i = 0; i < 200; i++) {
      Packet packet = Frames.random(random);
      packet.vlan = Packet.NO_VLAN;
      int before = storedCrc(Frames.encode(packet));
      packet.trafficClass ^= 3;
      packet.hopLimit = packet.hopLimit - 1 & 0xff;
      packet.flowLabel ^= 1;
      packet.forwardCongestion ^= true;
      packet.backwardCongestion ^= true;
      assertThat(storedCrc(Frames.encode(packet))).isEqualTo(before);
    }
  }

  @Test
  void packetWithoutAFrameIsNotWritten() {
    Packet packet = Frames.packet();
    packet.opcode = 0x04;
    assertThat(encoder.encode(packet, 0)).as("no addresses").isZero();
    packet.sourceIpv4(0x0a00_0001);
    assertThat(encoder.encode(packet, 0)).as("no destination").isZero();
    packet.destinationIpHigh = 0xfe80L << 48;
    assertThat(encoder.encode(packet, 0)).as("two IP versions").isZero();
    packet.sourceIpLow = 0;
    assertThat(encoder.encode(packet, 0)).as("no source").isZero();
    packet.destinationIpHigh = 0;
    packet.sourceIpv4(0x0a00_0001);
    packet.destinationIpv4(0x0a00_0002);
    assertThat(encoder.encode(packet, 0)).isEqualTo(58);
    packet.opcode = 0x15;
    assertThat(encoder.encode(packet, 0)).as("an undefined opcode").isZero();
    packet.opcode = 0x2c;
    assertThat(encoder.encode(packet, 0)).as("a READ of an unreliable connection").isZero();
    packet.opcode = 0x11;
    packet.length = 1;
    assertThat(encoder.encode(packet, 0)).as("an acknowledgement with payload").isZero();
    packet.opcode = 0x04;
    packet.length = 4097;
    assertThat(encoder.encode(packet, 0)).as("more than the longest payload").isZero();
  }

  @Test
  void longestFrameHasTheDeclaredLength() {
    int longest = 0;
    for (int opcode : Frames.OPCODES) {
      Packet packet = Frames.random(new SplittableRandom(1), opcode, false, Packet.MAX_PAYLOAD);
      packet.vlan = 0;
      longest = Math.max(longest, Frames.encode(packet).length);
    }
    // Ethernet with a VLAN, IPv6, UDP, BTH, RETH, ImmDt, payload, CRC
    assertThat(longest).isEqualTo(18 + 40 + 8 + 12 + 20 + 4096 + 4);
    assertThat(FrameLayout.MAX_FRAME).isBetween(longest, longest + 8);
  }
}

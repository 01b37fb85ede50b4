package org.hghca.wire.frame;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.hghca.wire.Packet;
import org.junit.jupiter.api.Test;

/** All frames of an Ethernet: RoCE v2 as packets, others as they are. */
class EthernetFramesTest {
  private static final String ARP =
      "ffffffffffff 020000000001 0806 0001080006040001 020000000001 0a000001"
          + "000000000000 0a000002";

  /** TCP to port 4791. */
  private static final String TCP =
      "020000000002 020000000001 0800 45000028 00004000 400626ce 0a000001 0a000002"
          + "c000 12b7 00000000 00000000 50020000 00000000";

  private static Packet decode(MemorySegment frame) {
    Packet packet = Frames.packet();
    assertThat(new EthernetDecoder(frame).decode(0, (int) frame.byteSize(), packet)).isTrue();
    return packet;
  }

  private static byte[] encode(Packet packet) {
    MemorySegment memory = Arena.ofAuto().allocate(FrameLayout.MAX_FRAME);
    int length = new EthernetEncoder(memory).encode(packet, 0);
    return memory.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
  }

  private static void assertPlain(MemorySegment frame) {
    Packet packet = decode(frame);
    assertThat(packet.plain).isTrue();
    assertThat(packet.damaged).isFalse();
    assertThat(encode(packet)).isEqualTo(frame.toArray(ValueLayout.JAVA_BYTE));
  }

  @Test
  void aPacketHoldsTheLongestFrame() {
    assertThat(Packet.MAX_FRAME).isEqualTo(FrameLayout.MAX_FRAME);
    assertThat(Frames.packet().payload().byteSize()).isEqualTo(FrameLayout.MAX_FRAME);
  }

  @Test
  void framesOfOtherProtocolsStayAsTheyAre() {
    assertPlain(Frames.memory(ARP));
    assertPlain(Frames.memory(TCP));
    assertPlain(Frames.memory("0180c2000000 020000000001 0026 424203"));
    Packet packet = decode(Frames.memory(ARP));
    assertThat(packet.destinationMac).isEqualTo(0xffff_ffff_ffffL);
    assertThat(packet.sourceMac).isEqualTo(0x0200_0000_0001L);
    assertThat(packet.length).isEqualTo(42);
  }

  @Test
  void framesOfRoceArePackets() {
    SplittableRandom random = new SplittableRandom(4791);
    for (int i = 0; i < 1000; i++) {
      byte[] frame = Frames.encode(Frames.random(random));
      Packet packet = decode(Frames.memory(frame));
      assertThat(packet.plain).as("frame %d", i).isFalse();
      assertThat(encode(packet)).as("frame %d", i).isEqualTo(frame);
    }
  }

  @Test
  void invalidFramesOfRoceStayAsTheyAre() {
    SplittableRandom random = new SplittableRandom(4792);
    for (int i = 0; i < 1000; i++) {
      byte[] frame = Frames.encode(Frames.random(random));
      frame[frame.length - 1] ^= 1; // of the invariant CRC
      assertPlain(Frames.memory(frame));
    }
  }

  @Test
  void everyCutFrameIsPlain() {
    byte[] frame = Frames.encode(Frames.random(new SplittableRandom(1)));
    for (int length = FrameLayout.ETHERNET_SIZE; length < frame.length; length++) {
      assertPlain(Frames.memory(Arrays.copyOf(frame, length)));
    }
  }

  @Test
  void onlyFramesWithoutHeaderAndTooLongOnesAreDropped() {
    MemorySegment memory = Arena.ofAuto().allocate(2 * FrameLayout.MAX_FRAME);
    EthernetDecoder decoder = new EthernetDecoder(memory);
    assertThat(decoder.decode(0, 13, Frames.packet())).isFalse();
    assertThat(decoder.decode(0, 14, Frames.packet())).isTrue();
    assertThat(decoder.decode(0, FrameLayout.MAX_FRAME, Frames.packet())).isTrue();
    assertThat(decoder.decode(0, FrameLayout.MAX_FRAME + 1, Frames.packet())).isFalse();
  }

  @Test
  void aTagThatWasRemovedComesBack() {
    Packet packet = decode(Frames.memory(ARP));

    assertThat(EthernetDecoder.tag(packet, 0x6123)).isTrue();

    assertThat(encode(packet))
        .isEqualTo(
            Frames.memory(ARP.replace("0806 ", "8100 6123 0806 ")).toArray(ValueLayout.JAVA_BYTE));
    packet.length = Packet.MAX_FRAME - 3;
    assertThat(EthernetDecoder.tag(packet, 0x6123)).isFalse();
  }
}

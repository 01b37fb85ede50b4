package org.hghca.wire.capture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.hghca.wire.Packet;
import org.hghca.wire.frame.FrameDecoder;
import org.hghca.wire.frame.FrameEncoder;
import org.hghca.wire.frame.FrameLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** One packet behind the headers of each link type, in files of all kinds. */
class LinkHeaderTest {
  private static byte[] frame(boolean ipv6) {
    Packet packet = Captures.acknowledge(5);
    if (ipv6) {
      packet.sourceIpHigh = 0xfe80L << 48;
      packet.sourceIpLow = 1;
      packet.destinationIpHigh = 0xfe80L << 48;
      packet.destinationIpLow = 2;
    }
    MemorySegment memory = MemorySegment.ofArray(new byte[FrameLayout.MAX_FRAME]);
    int length = new FrameEncoder(memory).encode(packet, 0);
    return memory.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
  }

  private static byte[] behind(String header, byte[] frame, int from) {
    byte[] first = HexFormat.of().parseHex(header.replace(" ", ""));
    return ByteBuffer.allocate(first.length + frame.length - from)
        .put(first)
        .put(frame, from, frame.length - from)
        .array();
  }

  /** Files with one frame: pcap and pcapng with each block of a packet, in one byte order. */
  private static List<byte[]> files(int linkType, byte[] frame, ByteOrder order) {
    return List.of(
        pcap(0xa1b2c3d4, linkType, frame, order),
        pcap(0xa1b23c4d, linkType, frame, order),
        pcapng(6, linkType, frame, order),
        pcapng(2, linkType, frame, order),
        pcapng(3, linkType, frame, order));
  }

  private static byte[] pcap(int magic, int linkType, byte[] frame, ByteOrder order) {
    return ByteBuffer.allocate(40 + frame.length)
        .order(order)
        .putInt(magic)
        .putShort((short) 2)
        .putShort((short) 4)
        .putLong(0)
        .putInt(65535)
        .putInt(linkType)
        .putLong(0)
        .putInt(frame.length)
        .putInt(frame.length)
        .put(frame)
        .array();
  }

  private static byte[] pcapng(int type, int linkType, byte[] frame, ByteOrder order) {
    ByteBuffer file = ByteBuffer.allocate(128 + frame.length).order(order);
    file.putInt(0x0a0d0d0a).putInt(28).putInt(0x1a2b3c4d);
    file.putShort((short) 1).putShort((short) 0).putLong(-1).putInt(28);
    file.putInt(1).putInt(20).putShort((short) linkType).putShort((short) 0).putInt(0).putInt(20);
    int padded = frame.length + 3 & ~3;
    int length = padded + (type == 3 ? 16 : 32);
    file.putInt(type).putInt(length);
    if (type != 3) {
      file.putInt(0).putLong(0).putInt(frame.length);
    }
    file.putInt(frame.length).put(frame).put(new byte[padded - frame.length]).putInt(length);
    return ByteBuffer.allocate(file.position()).put(file.flip()).array();
  }

  private static Packet decoded(MemorySegment ethernet) {
    Packet packet = Captures.packet(0, 0, 0);
    FrameDecoder decoder = new FrameDecoder(ethernet);
    assertThat(decoder.decode(0, (int) ethernet.byteSize(), packet))
        .as("%s", decoder.cause())
        .isTrue();
    return packet;
  }

  @ParameterizedTest(name = "{0}: link type {1}")
  @CsvSource({
    "Ethernet,       1,   020000000002 020000000001 0800, 020000000001, UNKNOWN, -1",
    "802.1Q,         1,   020000000002 020000000001 8100 2005 0800, 020000000001, UNKNOWN, 8197",
    "802.1ad,        1,   020000000002 020000000001 88a8 2007 0800, 020000000001, UNKNOWN, 8199",
    "QinQ,           1,   020000000002 020000000001 88a8 0007 8100 2005 0800, 020000000001,"
        + " UNKNOWN, 8197",
    "two of 802.1Q,  1,   020000000002 020000000001 8100 0007 8100 2005 0800, 020000000001,"
        + " UNKNOWN, 8197",
    "three tags,     1,   020000000002 020000000001 9100 0007 88a8 0008 8100 2005 0800,"
        + " 020000000001, UNKNOWN, 8197",
    "SLL in,         113, 0000 0001 0006 0200000000010000 0800, 020000000001, IN, -1",
    "SLL out,        113, 0004 0001 0006 0200000000010000 0800, 020000000001, OUT, -1",
    "SLL of no MAC,  113, 0000 fffe 0000 0000000000000000 0800, 000000000000, IN, -1",
    "SLL with tags,  113, 0000 0001 0006 0200000000010000 88a8 0007 8100 2005 0800,"
        + " 020000000001, IN, 8197",
    "SLL2 in,        276, 0800 0000 00000002 0001 00 06 0200000000010000, 020000000001, IN, -1",
    "SLL2 out,       276, 0800 0000 00000002 0001 04 06 0200000000010000, 020000000001, OUT, -1",
    "raw,            101, '', 000000000000, UNKNOWN, -1",
    "raw of a BSD,   12,  '', 000000000000, UNKNOWN, -1",
    "raw of OpenBSD, 14,  '', 000000000000, UNKNOWN, -1",
    "raw IPv4,       228, '', 000000000000, UNKNOWN, -1",
    "null of little, 0,   02000000, 000000000000, UNKNOWN, -1",
    "null of big,    0,   00000002, 000000000000, UNKNOWN, -1",
    "loop,           108, 00000002, 000000000000, UNKNOWN, -1"
  })
  void packetIsReadBehindTheHeadersOfEachLink(
      String name, int linkType, String header, String source, Direction direction, int vlan)
      throws IOException {
    byte[] frame = behind(header, frame(false), 14);
    for (ByteOrder order : List.of(ByteOrder.BIG_ENDIAN, ByteOrder.LITTLE_ENDIAN)) {
      for (byte[] file : files(linkType, frame, order)) {
        CapturedFrame captured = Captures.read(file).getFirst();
        Packet packet = decoded(captured.ethernet().orElseThrow());
        assertThat(packet.psn).isEqualTo(5);
        assertThat(packet.vlan).isEqualTo(vlan);
        assertThat(packet.sourceMac).isEqualTo(Long.parseLong(source, 16));
        assertThat(captured.direction()).isEqualTo(direction);
        assertThat(captured.length()).isEqualTo(frame.length);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "101, ''",
    "229, ''",
    "0, 1e000000",
    "108, 00000018",
    "113, 0000 0001 0006 0200000000010000 86dd",
    "276, 86dd 0000 00000002 0001 00 06 0200000000010000"
  })
  void ipv6IsReadToo(int linkType, String header) throws IOException {
    byte[] file =
        pcap(0xa1b2c3d4, linkType, behind(header, frame(true), 14), ByteOrder.LITTLE_ENDIAN);
    Packet packet = decoded(Captures.read(file).getFirst().ethernet().orElseThrow());
    assertThat(packet.destinationIpLow).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 12, 14, 101, 108, 113, 228, 229, 276})
  void shortFrameOfAnyLengthIsNoPacket(int linkType) throws IOException {
    for (int length = 0; length < 34; length++) {
      byte[] frame = new byte[length];
      Arrays.fill(frame, (byte) 0x88);
      byte[] file = pcap(0xa1b2c3d4, linkType, frame, ByteOrder.BIG_ENDIAN);
      Optional<MemorySegment> ethernet = Captures.read(file).getFirst().ethernet();
      assertThat(ethernet).isPresent();
      int size = (int) ethernet.get().byteSize();
      assertThat(new FrameDecoder(ethernet.get()).decode(0, size, Captures.packet(0, 0, 0)))
          .isFalse();
    }
  }

  @Test
  void otherLinkTypesHaveNoFrame() throws IOException {
    byte[] file = pcap(0xa1b2c3d4, 105, frame(false), ByteOrder.BIG_ENDIAN);
    assertThat(Captures.read(file).getFirst().ethernet()).isEmpty();
  }
}

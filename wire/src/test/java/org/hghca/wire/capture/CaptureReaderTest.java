package org.hghca.wire.capture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.hghca.wire.PacketOpcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CaptureReaderTest {
  private static final String LITTLE_SECTION =
      "0a0d0d0a 1c000000 4d3c2b1a 0100 0000 ffffffffffffffff 1c000000";

  private static byte[] bytes(String hex) {
    return HexFormat.of().parseHex(hex.replace(" ", ""));
  }

  private static String text(CapturedFrame frame) {
    return "%s %s %s %d %d %s"
        .formatted(
            frame.time().map(Instant::toString).orElse("?"),
            frame.direction(),
            frame.device(),
            frame.linkType(),
            frame.length(),
            HexFormat.of().formatHex(frame.bytes().toArray(ValueLayout.JAVA_BYTE)));
  }

  private static List<String> read(String hex) throws IOException {
    return Captures.read(bytes(hex)).stream().map(CaptureReaderTest::text).toList();
  }

  @Test
  void sectionsOfBothByteOrdersEachHaveTheirInterfaces() throws IOException {
    String big =
        "0a0d0d0a 0000001c 1a2b3c4d 0001 0000 ffffffffffffffff 0000001c"
            // interface 0: Ethernet, microseconds
            + "00000001 00000014 0001 0000 00000000 00000014"
            // an unknown block
            + "00000bad 00000014 0102030405060708 00000014"
            // interface 1: raw IP, at most 2 bytes, name, milliseconds, offset of 10 seconds
            + "00000001 00000034 0065 0000 00000002 0002 0002 6531 0000 0009 0001 03 000000"
            + "000e 0008 000000000000000a 0000 0000 00000034"
            // of interface 1, inbound, after a comment; 3 of 4 bytes
            + "00000006 00000038 00000001 00000000 000004d2 00000003 00000004 aabbcc 00"
            + "0001 0003 686967 00 0002 0004 00000001 0000 0000 00000038"
            // simple packet of 3 bytes, of interface 0
            + "00000003 00000014 00000003 ddeeff 00 00000014"
            // obsolete packet of interface 1 after 7 that were lost, outbound
            + "00000002 00000030 0001 0007 00000000 000004d2 00000001 00000001 99 000000"
            + "0002 0004 00000002 0000 0000 00000030";
    String little =
        LITTLE_SECTION
            + "01000000 14000000 0100 0000 00000000 14000000"
            // outbound, of 1 byte, an hour after 2^32 microseconds
            + "06000000 30000000 00000000 01000000 00a493d6 01000000 01000000 11 000000"
            + "0200 0400 02000000 0000 0000 30000000"
            // statistics
            + "05000000 18000000 00000000 00000000 00000000 18000000"
            // obsolete packet without options
            + "02000000 20000000 0000 ffff 00000000 02000000 00000000 00000000 20000000"
            // no options at all
            + "06000000 20000000 00000000 00000000 01000000 00000000 00000000 20000000";
    assertThat(read(big + little))
        .containsExactly(
            "1970-01-01T00:00:11.234Z IN e1 101 4 aabbcc",
            "? UNKNOWN  1 3 ddeeff",
            "1970-01-01T00:00:11.234Z OUT e1 101 1 99",
            "1970-01-01T02:11:34.967296Z OUT  1 1 11",
            "1970-01-01T00:00:00.000002Z UNKNOWN  1 0 ",
            "1970-01-01T00:00:00.000001Z UNKNOWN  1 0 ");
  }

  @ParameterizedTest
  @CsvSource({
    "a1b2c3d4, BIG_ENDIAN, 123456",
    "a1b2c3d4, LITTLE_ENDIAN, 123456",
    "a1b23c4d, BIG_ENDIAN, 123456000",
    "a1b23c4d, LITTLE_ENDIAN, 123456000"
  })
  void pcapIsReadInBothByteOrdersAndUnits(String magic, String order, int fraction)
      throws IOException {
    ByteBuffer file = ByteBuffer.allocate(24 + 2 * 20);
    file.order(order.startsWith("B") ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
    file.putInt((int) Long.parseLong(magic, 16)).putShort((short) 2).putShort((short) 4);
    file.putLong(0).putInt(65535).putInt(0x2400_0001); // Ethernet, with an FCS
    file.putInt(1_000_000_000).putInt(fraction).putInt(4).putInt(4).put(bytes("01020304"));
    file.putInt(-1).putInt(0).putInt(4).putInt(1500).put(bytes("05060708"));
    assertThat(Captures.read(file.array()).stream().map(CaptureReaderTest::text))
        .containsExactly(
            "2001-09-09T01:46:40.123456Z UNKNOWN  1 4 01020304",
            "2106-02-07T06:28:15Z UNKNOWN  1 1500 05060708");
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0, 5, 1970-01-01T00:00:05Z",
    "6, -5, 5000001, 1970-01-01T00:00:00.000001Z",
    "9, 0, -1, 2554-07-21T23:34:33.709551615Z",
    "12, 0, 1999999999999, 1970-01-01T00:00:01.999999999Z",
    "19, 0, -1, 1970-01-01T00:00:01.844674407Z",
    "128, 0, 5, 1970-01-01T00:00:05Z",
    "129, 0, 5, 1970-01-01T00:00:02.500Z",
    "191, 0, -1, 1970-01-01T00:00:01.999999999Z",
    "0, 0, -1, ",
    "0, 9223372036854775807, 5, ",
    "6, -9223372036854775808, 5, "
  })
  void timesAreInTheUnitsOfTheirInterface(int resolution, long offset, long count, Instant time) {
    assertThat(new TimeUnits(resolution, offset).time(count)).isEqualTo(Optional.ofNullable(time));
  }

  @ParameterizedTest
  @CsvSource({"20, false", "127, false", "19, true", "128, true", "191, true", "192, false"})
  void resolutionBeyondNanosecondsIsKnown(int resolution, boolean known) {
    assertThat(new TimeUnits(resolution, 0).isKnown()).isEqualTo(known);
  }

  @Test
  void truncatedFileIsReadUpToItsEnd() throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    int head = PcapngBlocks.head("a", 1).remaining();
    try (CaptureFile capture =
        new CaptureFile(
            "test",
            Channels.newChannel(out),
            PcapngBlocks.head("a", 1),
            () -> 0,
            1 << 13,
            CaptureFile.WITHOUT_END)) {
      capture.sent(Captures.acknowledge(1));
      capture.sent(Captures.packet(PacketOpcode.SEND_ONLY, 2, 9));
    }
    byte[] file = out.toByteArray();
    assertThat(Captures.read(file)).hasSize(2);
    int first = head + 108;
    int second = first + 28 + 72 + 16;
    for (int length = 28; length < file.length; length++) {
      byte[] cut = Arrays.copyOf(file, length);
      List<CapturedFrame> frames = new ArrayList<>();
      boolean whole = List.of(0x2c, head, first, second).contains(length);
      if (whole) {
        Captures.readInto(frames, cut);
      } else {
        assertThatThrownBy(() -> Captures.readInto(frames, cut))
            .as("%d bytes", length)
            .isInstanceOf(CaptureException.class)
            .hasMessage("cut off after %d bytes, in the middle of a block".formatted(length));
      }
      assertThat(frames).hasSize(length < first ? 0 : length < second ? 1 : 2);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'' | the file is empty",
        "0a0d0d | neither pcapng nor pcap: it has only 3 bytes",
        "7f454c46 00 | neither pcapng nor pcap: it begins with 7f454c46",
        "a1b2c3d4 0003 0000 | version 3 of pcap is not known",
        "0a0d0d0a 1c000000 4d3c2b1a 0200 0000 | version 2 of pcapng is not known",
        "0a0d0d0a 1c000000 01020304 0100 0000 | a section without a byte order",
        "0a0d0d0a 18000000 4d3c2b1a 0100 0000 | a section header of 24 bytes"
      })
  void otherFilesThanCapturesAreRefused(String hex, String message) {
    assertRefused(hex, message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0a000000 0d000000 | a block of 13 bytes",
        "0a000000 08000000 | a block of 8 bytes",
        "0a000000 0c000000 10000000 | a block of 12 bytes says 16 at its end",
        "06000000 04000010 | a block of 268435460 bytes",
        "01000000 0c000000 | too short",
        "01000000 18000000 0100 0000 00000000 0200 0500 18000000 | too short",
        "01000000 1c000000 0100 0000 00000000 0900 0100 20 000000 1c000000"
            + " | time in units of number 32",
        "06000000 20000000 00000000 00000000 01000000 00000000 00000000 20000000"
            + " | a packet of interface 0, which is not described",
        "01000000 14000000 0100 0000 00000000 14000000"
            + "06000000 20000000 00000000 00000000 01000000 04000000 04000000 20000000"
            + " | a packet of 4 bytes"
      })
  void malformedBlockIsRefused(String block, String message) {
    assertRefused(LITTLE_SECTION + block, message);
  }

  private static void assertRefused(String hex, String message) {
    assertThatThrownBy(() -> read(hex))
        .isInstanceOf(CaptureException.class)
        .hasMessageContaining(message);
  }

  @Test
  void longUnknownBlockIsSkipped() throws IOException {
    int length = 3 << 20;
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    file.write(bytes(LITTLE_SECTION));
    file.write(bytes("01000000 14000000 0100 0000 00000000 14000000"));
    file.write(bytes("aa000000 0c003000"));
    file.write(new byte[length]);
    file.write(bytes("0c003000"));
    file.write(bytes("03000000 14000000 01000000 77 000000 14000000"));
    assertThat(Captures.read(file.toByteArray()).stream().map(CaptureReaderTest::text))
        .containsExactly("? UNKNOWN  1 1 77");
  }

  @Test
  void unknownBlocksAreCountedByTypeInLimitedMemory() throws IOException {
    ByteBuffer file = ByteBuffer.allocate(28 + 103 * 12).order(ByteOrder.LITTLE_ENDIAN);
    file.put(bytes(LITTLE_SECTION));
    for (int type : new int[] {4, 5, 10}) { // names, statistics, secrets: no packets
      file.putInt(type).putInt(12).putInt(12);
    }
    for (int i = 0; i < 100; i++) {
      file.putInt(0x8000_0000 + i / 2).putInt(12).putInt(12);
    }
    try (CaptureReader reader = new CaptureReader(new ByteArrayInputStream(file.array()))) {
      assertThat(reader.next()).isEmpty();
      assertThat(reader.skipped().total()).isEqualTo(100);
      assertThat(reader.skipped().toString())
          .startsWith("2 of type 0x80000000, 2 of type 0x80000001, ")
          .endsWith(", 2 of type 0x8000000f, 68 of other types");
    }
  }
}

package org.hghca.tools.capture;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.hghca.tools.CommandLineRun;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketPool;
import org.hghca.wire.capture.CaptureFile;
import org.hghca.wire.frame.FrameEncoder;
import org.hghca.wire.frame.FrameLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DecodeCommandTest {
  /** 2026-11-18 11:06:40.123456789 UTC. */
  private static final long TIME = 1_795_000_000_123_456_789L;

  @TempDir Path folder;

  private final PacketPool pool = new PacketPool();
  private long now = TIME;

  private Packet packet(int opcode) {
    Packet packet = pool.take();
    packet.sourceMac = 0x0200_0000_0001L;
    packet.destinationMac = 0x0200_0000_0002L;
    packet.sourceIpv4(0x0a000001);
    packet.destinationIpv4(0x0a0000fe);
    packet.opcode = opcode;
    packet.destinationQpn = 0x12;
    packet.psn = 4711;
    packet.remoteAddress = 0xffff_8000_0000_1000L;
    packet.remoteKey = 0xabcd;
    packet.dmaLength = -1;
    packet.syndrome = 0x1f;
    packet.msn = 5;
    packet.queueKey = 0x8001_0000;
    packet.sourceQpn = 0x99;
    packet.swapAdd = 1;
    packet.compare = -1;
    packet.original = 2;
    packet.immediate = 0xdeadbeef;
    packet.invalidateKey = 7;
    return packet;
  }

  private Path captured(Packet... packets) throws IOException {
    Path file = folder.resolve("a.pcapng");
    try (CaptureFile capture = CaptureFile.open(file, "left", 0x0200_0000_0001L, () -> now)) {
      for (Packet packet : packets) {
        capture.sent(packet);
        now++;
      }
    }
    return file;
  }

  private static String headers(CommandLineRun run) {
    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isZero();
    return run.out()
        .replace("2026-11-18T11:06:40.123456789Z out 10.0.0.1 > 10.0.0.254 ", "")
        .strip();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0x00 | RC_SEND_FIRST qpn 0x000012 psn 4711 0 bytes, ICRC good",
        "0x06 | RC_WRITE_FIRST qpn 0x000012 psn 4711 RETH(va 0xffff800000001000 rkey 0x0000abcd"
            + " len 4294967295) 0 bytes, ICRC good",
        "0x0b | RC_WRITE_ONLY_IMM qpn 0x000012 psn 4711 RETH(va 0xffff800000001000 rkey 0x0000abcd"
            + " len 4294967295) imm 0xdeadbeef 0 bytes, ICRC good",
        "0x0c | RC_READ_REQUEST qpn 0x000012 psn 4711 RETH(va 0xffff800000001000 rkey 0x0000abcd"
            + " len 4294967295) 0 bytes, ICRC good",
        "0x0e | RC_READ_RESPONSE_MIDDLE qpn 0x000012 psn 4711 0 bytes, ICRC good",
        "0x10 | RC_READ_RESPONSE_ONLY qpn 0x000012 psn 4711 AETH(ACK msn 5) 0 bytes, ICRC good",
        "0x12 | RC_ATOMIC_ACKNOWLEDGE qpn 0x000012 psn 4711 AETH(ACK msn 5) AtomicAckETH(0x2)"
            + " 0 bytes, ICRC good",
        "0x13 | RC_COMPARE_SWAP qpn 0x000012 psn 4711 AtomicETH(va 0xffff800000001000"
            + " rkey 0x0000abcd swapadd 0x1 compare 0xffffffffffffffff) 0 bytes, ICRC good",
        "0x17 | RC_SEND_ONLY_INVALIDATE qpn 0x000012 psn 4711 inv 0x00000007 0 bytes, ICRC good",
        "0x28 | UC_WRITE_LAST qpn 0x000012 psn 4711 0 bytes, ICRC good",
        "0x65 | UD_SEND_ONLY_IMM qpn 0x000012 psn 4711 DETH(qkey 0x80010000 srcqp 0x000099)"
            + " imm 0xdeadbeef 0 bytes, ICRC good",
        "0x81 | CNP qpn 0x000012 psn 4711 0 bytes, ICRC good"
      })
  void packetIsALineWithTheHeadersOfItsOpcode(String opcode, String line) throws IOException {
    Path file = captured(packet(Integer.decode(opcode)));
    assertThat(headers(CommandLineRun.of("decode", file.toString()))).isEqualTo(line);
  }

  @ParameterizedTest
  @CsvSource({
    "0x1f, ACK",
    "0x05, ACK credits 5",
    "0x2e, RNR_NAK timer 14",
    "0x60, NAK_SEQUENCE",
    "0x61, NAK_INVALID_REQUEST",
    "0x62, NAK_REMOTE_ACCESS",
    "0x63, NAK_REMOTE_OPERATION",
    "0x64, NAK_INVALID_RD_REQUEST",
    "0x65, NAK 5",
    "0x40, reserved 0x40",
    "0x9f, reserved 0x9f"
  })
  void syndromesHaveNames(String syndrome, String name) throws IOException {
    Packet packet = packet(0x11);
    packet.syndrome = Integer.decode(syndrome);
    assertThat(headers(CommandLineRun.of("decode", captured(packet).toString())))
        .isEqualTo(
            "RC_ACKNOWLEDGE qpn 0x000012 psn 4711 AETH(%s msn 5) 0 bytes, ICRC good"
                .formatted(name));
  }

  @Test
  void flagsAddressesAndDamageAreShown() throws IOException {
    Packet packet = packet(0x04);
    packet.ackRequest = true;
    packet.solicited = true;
    packet.forwardCongestion = true;
    packet.backwardCongestion = true;
    packet.damaged = true;
    packet.vlan = 0xe005;
    packet.length = 10;
    packet.sourceIpHigh = 0xfe80L << 48;
    packet.sourceIpLow = 1;
    packet.destinationIpHigh = 0xfe80L << 48;
    packet.destinationIpLow = 2;
    CommandLineRun run = CommandLineRun.of("decode", "--macs", captured(packet).toString());
    assertThat(run.out())
        .isEqualTo(
            "2026-11-18T11:06:40.123456789Z out 02:00:00:00:00:01 > 02:00:00:00:00:02 vlan 5"
                + " fe80::1 > fe80::2 RC_SEND_ONLY qpn 0x000012 psn 4711 AckReq SE FECN BECN"
                + " 10 bytes, ICRC bad\n");
    assertThat(run.exitCode()).isZero();
  }

  @Test
  void jsonHasOneObjectPerLineAndPacket() throws IOException {
    Path file = captured(packet(0x06), packet(0x12));
    CommandLineRun run = CommandLineRun.of("decode", "--json", file.toString()).assertExit(0);
    assertThat(run.err()).isEmpty();
    List<Map<String, Object>> objects = run.out().lines().map(DecodeCommandTest::parse).toList();
    assertThat(objects).hasSize(2);
    assertThat(objects.getFirst())
        .containsEntry("time", "2026-11-18T11:06:40.123456789Z")
        .containsEntry("interface", "left")
        .containsEntry("direction", "out")
        .containsEntry("source_mac", "02:00:00:00:00:01")
        .containsEntry("source", "10.0.0.1")
        .containsEntry("destination", "10.0.0.254")
        .containsEntry("opcode", "RC_WRITE_FIRST")
        .containsEntry("qpn", 18)
        .containsEntry("psn", 4711)
        .containsEntry("ack_req", false)
        .containsEntry("va", "0xffff800000001000")
        .containsEntry("rkey", 0xabcd)
        .containsEntry("dma_length", 4294967295L)
        .containsEntry("length", 0)
        .containsEntry("icrc", "good")
        .doesNotContainKeys("aeth", "vlan", "immediate", "not_decoded");
    assertThat(objects.getLast())
        .containsEntry("aeth", "ACK")
        .containsEntry("syndrome", 31)
        .containsEntry("msn", 5)
        .containsEntry("original", "0x2")
        .doesNotContainKeys("va");
  }

  private static Map<String, Object> parse(String line) {
    try {
      return JSON.std.mapFrom(line);
    } catch (IOException e) {
      throw new AssertionError(line, e);
    }
  }

  /** A capture of the older format. */
  private Path pcap(int linkType, byte[]... frames) throws IOException {
    ByteBuffer out = ByteBuffer.allocate(1 << 16);
    out.putInt(0xa1b2c3d4).putInt(0x0002_0004).putLong(0).putInt(65535).putInt(linkType);
    for (byte[] frame : frames) {
      out.putInt(1_795_000_000).putInt(5).putInt(frame.length).putInt(frame.length).put(frame);
    }
    return Files.write(folder.resolve("b.pcap"), Arrays.copyOf(out.array(), out.position()));
  }

  private static byte[] frame(Packet packet) {
    MemorySegment memory = Arena.ofAuto().allocate(FrameLayout.MAX_FRAME);
    int length = new FrameEncoder(memory).encode(packet, 0);
    return memory.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
  }

  @Test
  void framesOfOtherProtocolsAreOmittedAndCounted() throws IOException {
    byte[] arp = new byte[42];
    arp[12] = 0x08;
    arp[13] = 0x06;
    byte[] dns = frame(packet(0x11));
    dns[14 + 20 + 3] = 53; // the UDP port
    byte[] strange = frame(packet(0x11));
    strange[14 + 20 + 8] = 0x1e; // the opcode
    CommandLineRun run =
        CommandLineRun.of(
            "decode", pcap(1, arp, frame(packet(0x11)), dns, arp, strange).toString());
    assertThat(run.out())
        .isEqualTo(
            "2026-11-18T11:06:40.000005000Z -   10.0.0.1 > 10.0.0.254 RC_ACKNOWLEDGE qpn 0x000012"
                + " psn 4711 AETH(ACK msn 5) 0 bytes, ICRC good\n"
                + "2026-11-18T11:06:40.000005000Z -   not decoded: OPCODE, 62 bytes\n");
    assertThat(run.err()).isEqualTo("hghca: 3 frames are not RoCE v2: 2 ETHER_TYPE, 1 NOT_ROCE\n");
    assertThat(run.exitCode()).isZero();

    CommandLineRun other = CommandLineRun.of("decode", pcap(105, new byte[60]).toString());
    assertThat(other.out()).isEmpty();
    assertThat(other.err()).isEqualTo("hghca: 1 frames of link type 105 are not read\n");
    assertThat(other.exitCode()).isZero();
  }

  @Test
  void cookedCaptureOfAllInterfacesIsPrinted() throws IOException {
    byte[] ethernet = frame(packet(0x11));
    ByteBuffer cooked = ByteBuffer.allocate(20 + ethernet.length - 14);
    cooked.putShort((short) 0x0800).putShort((short) 0).putInt(3).putShort((short) 1);
    cooked.put((byte) 4).put((byte) 6).put(ethernet, 6, 6).putShort((short) 0);
    cooked.put(ethernet, 14, ethernet.length - 14);
    CommandLineRun run =
        CommandLineRun.of("decode", "--macs", pcap(276, cooked.array()).toString());
    assertThat(run.out())
        .isEqualTo(
            "2026-11-18T11:06:40.000005000Z out 02:00:00:00:00:01 > 00:00:00:00:00:00 10.0.0.1"
                + " > 10.0.0.254 RC_ACKNOWLEDGE qpn 0x000012 psn 4711 AETH(ACK msn 5) 0 bytes,"
                + " ICRC good\n");
    assertThat(run.err()).isEmpty();
  }

  @Test
  void skippedBlocksAreCountedAndNamed() throws IOException {
    byte[] file = Files.readAllBytes(captured(packet(0x11)));
    ByteBuffer more = ByteBuffer.allocate(file.length + 12).order(ByteOrder.LITTLE_ENDIAN);
    more.put(file).putInt(0xbad).putInt(12).putInt(12);
    Path path = Files.write(folder.resolve("more"), more.array());
    CommandLineRun run = CommandLineRun.of("decode", path.toString());
    assertThat(run.out().lines()).hasSize(1);
    assertThat(run.err()).isEqualTo("hghca: blocks that are not read: 1 of type 0x00000bad\n");
    assertThat(run.exitCode()).isZero();
  }

  @Test
  void partlyCapturedFrameIsNotDecoded() throws IOException {
    byte[] whole = frame(packet(0x11));
    byte[] file = Files.readAllBytes(pcap(1, Arrays.copyOf(whole, 50)));
    ByteBuffer.wrap(file).putInt(24 + 12, whole.length);
    Path cut = Files.write(folder.resolve("cut.pcap"), file);
    CommandLineRun run = CommandLineRun.of("decode", cut.toString());
    assertThat(run.out())
        .isEqualTo(
            "2026-11-18T11:06:40.000005000Z -   not decoded: 50 of 62 bytes were captured\n");
    assertThat(CommandLineRun.of("decode", "--json", cut.toString()).out())
        .isEqualTo(
            "{\"schema_version\":1,\"time\":\"2026-11-18T11:06:40.000005000Z\",\"frame_length\":62,"
                + "\"not_decoded\":\"50 of 62 bytes were captured\"}\n");
  }

  @Test
  void completePacketsOfATruncatedFileAreShown() throws IOException {
    byte[] file = Files.readAllBytes(captured(packet(0x11), packet(0x11), packet(0x11)));
    int statistics = 0x4c;
    Path cut =
        Files.write(folder.resolve("cut"), Arrays.copyOf(file, file.length - statistics - 9));
    CommandLineRun run = CommandLineRun.of("decode", cut.toString());
    assertThat(run.out().lines()).hasSize(2);
    assertThat(run.err())
        .isEqualTo(
            "hghca: %s: cut off after %d bytes, in the middle of a block\n"
                .formatted(cut, Files.size(cut)));
    assertThat(run.exitCode()).isEqualTo(1);
  }

  @Test
  void unreadableFileIsAFailure() throws IOException {
    assertFails(folder.resolve("none"), "no such file");
    assertFails(folder, "Is a directory");
    assertFails(Files.createFile(folder.resolve("empty")), "the file is empty");
    assertFails(Files.writeString(folder.resolve("text"), "hello"), "neither pcapng nor pcap");
    assertThat(CommandLineRun.of("decode").exitCode()).isEqualTo(2);
  }

  private static void assertFails(Path file, String message) {
    CommandLineRun run = CommandLineRun.of("decode", file.toString());
    assertThat(run.err()).startsWith("hghca: " + file + ": " + message);
    assertThat(run.out()).isEmpty();
    assertThat(run.exitCode()).isEqualTo(1);
  }
}

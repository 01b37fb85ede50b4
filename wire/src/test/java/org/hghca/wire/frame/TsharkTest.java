package org.hghca.wire.frame;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.hghca.wire.IpAddress;
import org.hghca.wire.Packet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Wireshark reads the written frames. The test is skipped where its command line is missing. */
class TsharkTest {
  private static final int PACKETS = 1000;
  private static final long SEED = 4791;

  /** Of a capture of Ethernet frames, in the order of this machine's bytes. */
  private static final int MAGIC = 0xa1b2c3d4;

  private static final int ETHERNET = 1;

  private static final List<String> FIELDS =
      List.of(
          "_ws.malformed",
          "ip.checksum.status",
          "udp.srcport",
          "vlan.id",
          "infiniband.bth.opcode",
          "infiniband.bth.se",
          "infiniband.bth.m",
          "infiniband.bth.padcnt",
          "infiniband.bth.p_key",
          "infiniband.bth.destqp",
          "infiniband.bth.a",
          "infiniband.bth.psn",
          "infiniband.reth.va",
          "infiniband.reth.r_key",
          "infiniband.reth.dmalen",
          "infiniband.atomiceth.swapdt",
          "infiniband.atomiceth.cmpdt",
          "infiniband.atomicacketh.origremdt",
          "infiniband.aeth.syndrome",
          "infiniband.aeth.msn",
          "infiniband.deth.q_key",
          "infiniband.deth.srcqp",
          "infiniband.immdt",
          "infiniband.ieth",
          "infiniband.invariant.crc");

  @TempDir Path folder;

  @Test
  void wiresharkReadsWrittenFrames() throws IOException, InterruptedException {
    List<Packet> packets = packets();
    List<byte[]> frames = packets.stream().map(Frames::encode).toList();
    Path capture = folder.resolve("frames.pcap");
    Files.write(capture, capture(frames));
    List<Map<String, String>> seen = dissect(capture);
    assertThat(seen).hasSize(PACKETS);
    for (int i = 0; i < PACKETS; i++) {
      assertThat(seen.get(i))
          .as("packet %d, seed %d", i, SEED)
          .isEqualTo(expected(packets.get(i), frames.get(i)));
    }
  }

  private static List<Packet> packets() {
    SplittableRandom random = new SplittableRandom(SEED);
    List<Packet> packets = new ArrayList<>();
    for (int i = 0; i < PACKETS; i++) {
      int opcode = Frames.OPCODES[i % Frames.OPCODES.length];
      Packet packet = Frames.random(random, opcode, random.nextBoolean(), random.nextInt(64, 300));
      // Wireshark guesses the type of payloads and ports: these match none that it knows.
      packet.payload().fill((byte) 0xa5);
      packet.udpSourcePort |= Packet.FIRST_UDP_SOURCE_PORT;
      packets.add(packet);
    }
    return packets;
  }

  private static byte[] capture(List<byte[]> frames) {
    int size = 24 + frames.stream().mapToInt(frame -> 16 + frame.length).sum();
    ByteBuffer out = ByteBuffer.allocate(size).order(ByteOrder.nativeOrder());
    out.putInt(MAGIC).putShort((short) 2).putShort((short) 4).putLong(0);
    out.putInt(1 << 16).putInt(ETHERNET);
    for (byte[] frame : frames) {
      out.putLong(0).putInt(frame.length).putInt(frame.length).put(frame);
    }
    return out.array();
  }

  private List<Map<String, String>> dissect(Path capture) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("tshark", "-r", capture.toString(), "-n"));
    command.addAll(
        List.of(
            "-o",
            "ip.check_checksum:TRUE",
            "-T",
            "fields",
            "-E",
            "separator=;",
            "-E",
            "occurrence=f"));
    for (String field : FIELDS) {
      command.add("-e");
      command.add(field);
    }
    Path out = folder.resolve("fields");
    Process process;
    try {
      process =
          new ProcessBuilder(command)
              .redirectOutput(out.toFile())
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
    } catch (IOException e) {
      return abort("tshark is not installed: apt install tshark (" + e.getMessage() + ")");
    }
    try {
      assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
    } finally {
      process.destroyForcibly();
    }
    assertThat(process.exitValue()).isZero();
    List<Map<String, String>> result = new ArrayList<>();
    for (String line : Files.readString(out, StandardCharsets.UTF_8).lines().toList()) {
      String[] values = line.split(";", -1);
      Map<String, String> fields = new TreeMap<>();
      for (int i = 0; i < values.length; i++) {
        if (!values[i].isEmpty()) {
          fields.put(FIELDS.get(i), values[i]);
        }
      }
      if ("129".equals(fields.get("infiniband.bth.opcode"))) {
        fields.remove("infiniband.invariant.crc");
      }
      result.add(fields);
    }
    return result;
  }

  /** The expected output of Wireshark for a packet, in the format of its fields. */
  private static Map<String, String> expected(Packet packet, byte[] frame) {
    Map<String, String> fields = new TreeMap<>();
    if (IpAddress.isIpv4(packet.sourceIpHigh, packet.sourceIpLow)) {
      fields.put("ip.checksum.status", "1"); // good
    }
    if (packet.vlan != Packet.NO_VLAN) {
      fields.put("vlan.id", decimal(packet.vlan & 0xfff));
    }
    fields.put("udp.srcport", decimal(packet.udpSourcePort));
    fields.put("infiniband.bth.opcode", decimal(packet.opcode));
    fields.put("infiniband.bth.se", packet.solicited ? "1" : "0");
    fields.put("infiniband.bth.m", packet.migrated ? "1" : "0");
    fields.put("infiniband.bth.padcnt", decimal(-packet.length & 3));
    fields.put("infiniband.bth.p_key", decimal(packet.partitionKey));
    fields.put("infiniband.bth.destqp", "0x%06x".formatted(packet.destinationQpn));
    fields.put("infiniband.bth.a", packet.ackRequest ? "1" : "0");
    fields.put("infiniband.bth.psn", decimal(packet.psn));
    if (packet.opcode == 0x81) {
      return fields; // Wireshark does not dissect the headers behind its base transport header
    }
    int crc = ByteBuffer.wrap(frame).getInt(frame.length - 4);
    fields.put("infiniband.invariant.crc", "0x%08x".formatted(crc));
    putHeaders(packet, fields);
    return fields;
  }

  private static void putHeaders(Packet packet, Map<String, String> fields) {
    switch (packet.opcode) {
      case 0x06, 0x0a, 0x0b, 0x0c, 0x26, 0x2a, 0x2b -> {
        putMemory(packet, fields);
        fields.put("infiniband.reth.dmalen", decimal(packet.dmaLength));
      }
      case 0x0d, 0x0f, 0x10, 0x11, 0x12 -> {
        fields.put("infiniband.aeth.syndrome", decimal(packet.syndrome));
        fields.put("infiniband.aeth.msn", decimal(packet.msn));
      }
      case 0x13, 0x14 -> {
        putMemory(packet, fields);
        fields.put("infiniband.atomiceth.swapdt", Long.toUnsignedString(packet.swapAdd));
        fields.put("infiniband.atomiceth.cmpdt", Long.toUnsignedString(packet.compare));
      }
      case 0x64, 0x65 -> {
        fields.put(
            "infiniband.deth.q_key", "0x%016x".formatted(Integer.toUnsignedLong(packet.queueKey)));
        fields.put("infiniband.deth.srcqp", "0x%08x".formatted(packet.sourceQpn));
      }
      default -> {}
    }
    switch (packet.opcode) {
      case 0x03, 0x05, 0x09, 0x0b, 0x23, 0x25, 0x29, 0x2b, 0x65 ->
          fields.put("infiniband.immdt", "%08x".formatted(packet.immediate));
      case 0x12 ->
          fields.put("infiniband.atomicacketh.origremdt", Long.toUnsignedString(packet.original));
      case 0x16, 0x17 -> fields.put("infiniband.ieth", "%08x".formatted(packet.invalidateKey));
      default -> {}
    }
  }

  private static void putMemory(Packet packet, Map<String, String> fields) {
    fields.put("infiniband.reth.va", "0x%016x".formatted(packet.remoteAddress));
    fields.put("infiniband.reth.r_key", "0x%08x".formatted(packet.remoteKey));
  }

  private static String decimal(int value) {
    return Integer.toUnsignedString(value);
  }
}

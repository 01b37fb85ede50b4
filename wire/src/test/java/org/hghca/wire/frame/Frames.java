package org.hghca.wire.frame;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.random.RandomGenerator;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketPool;

/** Frames and packets that tests give each other. */
final class Frames {
  /** Every opcode that has a frame. */
  static final int[] OPCODES = {
    0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f,
    0x10, 0x11, 0x12, 0x13, 0x14, 0x16, 0x17, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,
    0x29, 0x2a, 0x2b, 0x64, 0x65, 0x81
  };

  private static final long MAC = 0xffff_ffff_ffffL;
  private static final int PSN = 0xff_ffff;

  private static final PacketPool POOL = new PacketPool();

  private Frames() {}

  /** A packet as a pool returns it. */
  static Packet packet() {
    return POOL.take();
  }

  /** Native memory of exactly these bytes, written as hexadecimal digits and blanks. */
  static MemorySegment memory(String hex) {
    return memory(HexFormat.of().parseHex(hex.replaceAll("\\s", "")));
  }

  /** Native memory of exactly these bytes. */
  static MemorySegment memory(byte[] bytes) {
    MemorySegment memory = Arena.ofAuto().allocate(bytes.length);
    MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, bytes.length);
    return memory;
  }

  /** The frame of a packet. */
  static byte[] encode(Packet packet) {
    MemorySegment memory = Arena.ofAuto().allocate(FrameLayout.MAX_FRAME);
    int length = new FrameEncoder(memory).encode(packet, 0);
    return memory.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
  }

  /** The payload of a packet. */
  static void payload(Packet packet, byte[] bytes) {
    packet.length = bytes.length;
    MemorySegment.copy(bytes, 0, packet.payload(), ValueLayout.JAVA_BYTE, 0, bytes.length);
  }

  /** Any packet that has a frame, with a payload of any length up to the longest. */
  static Packet random(RandomGenerator random) {
    return random(
        random,
        OPCODES[random.nextInt(OPCODES.length)],
        random.nextBoolean(),
        random.nextBoolean() ? random.nextInt(9) : random.nextInt(Packet.MAX_PAYLOAD + 1));
  }

  /**
   * A packet that has only the fields that its frame has.
   *
   * @param length of the payload, if the opcode has one
   */
  static Packet random(RandomGenerator random, int opcode, boolean ipv4, int length) {
    Packet packet = packet();
    packet.destinationMac = random.nextLong() & MAC;
    packet.sourceMac = random.nextLong() & MAC;
    packet.vlan = random.nextBoolean() ? Packet.NO_VLAN : random.nextInt(1 << 16);
    packet.trafficClass = random.nextInt(256);
    packet.hopLimit = random.nextInt(256);
    packet.udpSourcePort = random.nextInt(1 << 16);
    if (ipv4) {
      packet.sourceIpv4(random.nextInt(1, Integer.MAX_VALUE));
      packet.destinationIpv4(-random.nextInt(1, Integer.MAX_VALUE));
      packet.identification = random.nextInt(1 << 16);
    } else {
      packet.sourceIpHigh = 0xfe80L << 48;
      packet.sourceIpLow = random.nextLong();
      packet.destinationIpHigh = random.nextLong(1, Long.MAX_VALUE);
      packet.destinationIpLow = random.nextLong();
      packet.flowLabel = random.nextInt(1 << 20);
    }
    packet.opcode = opcode;
    packet.solicited = random.nextBoolean();
    packet.migrated = random.nextBoolean();
    packet.partitionKey = random.nextInt(1 << 16);
    packet.forwardCongestion = random.nextBoolean();
    packet.backwardCongestion = random.nextBoolean();
    packet.destinationQpn = random.nextInt() & PSN;
    packet.ackRequest = random.nextBoolean();
    packet.psn = random.nextInt() & PSN;
    if (headers(random, packet)) {
      byte[] bytes = new byte[length];
      random.nextBytes(bytes);
      payload(packet, bytes);
    }
    return packet;
  }

  /** Fills in the headers of an opcode; returns whether it has a payload. */
  private static boolean headers(RandomGenerator random, Packet packet) {
    switch (packet.opcode) {
      case 0x03, 0x05, 0x09, 0x23, 0x25, 0x29 -> packet.immediate = random.nextInt();
      case 0x06, 0x0a, 0x26, 0x2a -> remoteMemory(random, packet);
      case 0x0b, 0x2b -> {
        remoteMemory(random, packet);
        packet.immediate = random.nextInt();
      }
      case 0x0c -> {
        remoteMemory(random, packet);
        return false;
      }
      case 0x0d, 0x0f, 0x10 -> acknowledge(random, packet);
      case 0x11 -> {
        acknowledge(random, packet);
        return false;
      }
      case 0x12 -> {
        acknowledge(random, packet);
        packet.original = random.nextLong();
        return false;
      }
      case 0x13, 0x14 -> {
        packet.remoteAddress = random.nextLong();
        packet.remoteKey = random.nextInt();
        packet.swapAdd = random.nextLong();
        packet.compare = random.nextLong();
        return false;
      }
      case 0x16, 0x17 -> packet.invalidateKey = random.nextInt();
      case 0x64, 0x65 -> {
        packet.queueKey = random.nextInt();
        packet.sourceQpn = random.nextInt() & PSN;
        packet.immediate = packet.opcode == 0x65 ? random.nextInt() : 0;
      }
      case 0x81 -> {
        return false;
      }
      default -> {}
    }
    return true;
  }

  private static void remoteMemory(RandomGenerator random, Packet packet) {
    packet.remoteAddress = random.nextLong();
    packet.remoteKey = random.nextInt();
    packet.dmaLength = random.nextInt();
  }

  private static void acknowledge(RandomGenerator random, Packet packet) {
    packet.syndrome = random.nextInt(256);
    packet.msn = random.nextInt() & PSN;
  }

  /** Asserts that two packets are the same in every field and in the payload. */
  static void assertSame(Packet actual, Packet expected) {
    for (Field field : Packet.class.getFields()) {
      if (!Modifier.isStatic(field.getModifiers())) {
        try {
          assertThat(field.get(actual)).as(field.getName()).isEqualTo(field.get(expected));
        } catch (IllegalAccessException e) {
          throw new AssertionError(e);
        }
      }
    }
    assertThat(actual.payload().asSlice(0, actual.length).mismatch(payload(expected)))
        .isEqualTo(-1);
  }

  private static MemorySegment payload(Packet packet) {
    return packet.payload().asSlice(0, packet.length);
  }

  /** The bytes from one offset up to another. */
  static byte[] part(byte[] bytes, int from, int to) {
    return Arrays.copyOfRange(bytes, from, to);
  }
}

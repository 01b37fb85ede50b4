package org.hghca.wire.capture;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;
import org.hghca.wire.PacketPool;

/** Packets to capture, and captures to read. */
final class Captures {
  private static final PacketPool POOL = new PacketPool();

  private Captures() {}

  /** A packet over IPv4 of a reliable connection. */
  static Packet packet(int opcode, int psn, int length) {
    Packet packet = POOL.take();
    packet.destinationMac = 0x0200_0000_0002L;
    packet.sourceMac = 0x0200_0000_0001L;
    packet.sourceIpv4(0x0a000001);
    packet.destinationIpv4(0x0a000002);
    packet.opcode = opcode;
    packet.destinationQpn = 0x12;
    packet.psn = psn;
    packet.length = length;
    packet.payload().fill((byte) psn);
    return packet;
  }

  static Packet acknowledge(int psn) {
    Packet packet = packet(PacketOpcode.ACKNOWLEDGE, psn, 0);
    packet.syndrome = 0x1f;
    packet.msn = 3;
    return packet;
  }

  /** All frames of a capture. */
  static List<CapturedFrame> read(byte[] file) throws IOException {
    List<CapturedFrame> frames = new ArrayList<>();
    readInto(frames, file);
    return frames;
  }

  static List<CapturedFrame> read(Path file) throws IOException {
    return read(Files.readAllBytes(file));
  }

  /** Reads to the end, or to the first error. */
  static void readInto(List<CapturedFrame> frames, byte[] file) throws IOException {
    try (CaptureReader reader = new CaptureReader(new ByteArrayInputStream(file))) {
      for (Optional<CapturedFrame> frame = reader.next();
          frame.isPresent();
          frame = reader.next()) {
        frames.add(frame.get());
      }
    }
  }

  /** The statistics at the end of a capture: received and dropped packets. */
  static long[] statistics(byte[] file) {
    ByteBuffer bytes = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
    int at = file.length - bytes.getInt(file.length - 4);
    if (bytes.getInt(at) != 5) {
      throw new AssertionError("the capture does not end with statistics");
    }
    return new long[] {bytes.getLong(at + 48), bytes.getLong(at + 60)};
  }
}

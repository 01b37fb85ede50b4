package org.hghca.conformance.rtl;

import static org.hghca.wire.PacketOpcode.*;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.hghca.wire.Packet;

/**
 * A packet as the RTL's engine passes it on: little-endian dwords from the base transport header
 * on, in beats of 32 bytes. Reserved bits of that header hold the length of the payload.
 */
final class Beats {
  private static final int BEAT = 32;
  private static final int LARGEST_HEADER = 64;

  private Beats() {}

  /** Bytes in front of the payload. */
  static int headerSize(int operation) {
    int size = 3 * Integer.BYTES;
    if (hasRemoteAddress(operation)) {
      size += 4 * Integer.BYTES;
    }
    if (hasAcknowledgement(operation)) {
      size += Integer.BYTES;
    }
    return size + (hasImmediate(operation) ? Integer.BYTES : 0);
  }

  private static boolean hasRemoteAddress(int operation) {
    return operation == WRITE_FIRST
        || operation == WRITE_ONLY
        || operation == WRITE_ONLY_IMM
        || operation == READ_REQUEST;
  }

  private static boolean hasAcknowledgement(int operation) {
    return isResponse(operation) && operation != READ_RESPONSE_MIDDLE;
  }

  static List<String> of(Packet packet) {
    ByteBuffer bytes =
        ByteBuffer.allocate(LARGEST_HEADER + Packet.MAX_PAYLOAD).order(ByteOrder.LITTLE_ENDIAN);
    int operation = packet.opcode & OPERATION_MASK;
    bytes.putInt(
        packet.opcode << 24 | (packet.solicited ? 1 << 23 : 0) | packet.sourceQpn & 0xffff);
    bytes.putInt((packet.length & 0x3f) << 24 | packet.destinationQpn);
    bytes.putInt((packet.ackRequest ? 1 << 31 : 0) | packet.length >> 6 << 24 | packet.psn);
    if (hasRemoteAddress(operation)) {
      bytes.putInt((int) (packet.remoteAddress >>> 32)).putInt((int) packet.remoteAddress);
      bytes.putInt(packet.remoteKey).putInt(packet.dmaLength);
    }
    if (hasAcknowledgement(operation)) {
      bytes.putInt(packet.syndrome << 24 | packet.msn);
    }
    if (hasImmediate(operation)) {
      bytes.putInt(packet.immediate);
    }
    bytes.put(packet.payload().asSlice(0, packet.length).asByteBuffer());
    List<String> beats = new ArrayList<>();
    for (int at = 0; at < bytes.position(); at += BEAT) {
      beats.add(HexFormat.of().formatHex(bytes.array(), at, at + BEAT));
    }
    return beats;
  }
}

package org.hghca.tools.capture;

import static org.hghca.wire.frame.TransportHeaders.*;

import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;
import org.hghca.wire.frame.TransportHeaders;

/** A packet of a capture in one line: QPNs, keys and addresses hexadecimal, all else decimal. */
final class PacketLine {
  private final Packet packet;
  private final StringBuilder line = new StringBuilder();

  private PacketLine(Packet packet) {
    this.packet = packet;
  }

  static String of(DecodedFrame decoded, boolean macs) {
    PacketLine text = new PacketLine(decoded.packet());
    text.line
        .append(PacketNames.time(decoded.frame()).orElse("-"))
        .append(' ')
        .append("%-3s ".formatted(PacketNames.direction(decoded.frame()).orElse("-")));
    if (!decoded.hasPacket()) {
      text.line.append("not decoded: ").append(decoded.problem());
      return text.line.toString();
    }
    if (macs) {
      text.ethernet();
    }
    text.base();
    text.headers();
    text.add(
        " %d bytes, ICRC %s".formatted(text.packet.length, text.packet.damaged ? "bad" : "good"));
    return text.line.toString();
  }

  private void add(String text) {
    line.append(text);
  }

  private void ethernet() {
    add(
        "%s > %s "
            .formatted(PacketNames.mac(packet.sourceMac), PacketNames.mac(packet.destinationMac)));
    if (packet.vlan != Packet.NO_VLAN) {
      add("vlan %d ".formatted(packet.vlan & 0xfff));
    }
  }

  private void base() {
    add(
        "%s > %s %s qpn 0x%06x psn %d"
            .formatted(
                PacketNames.ip(packet.sourceIpHigh, packet.sourceIpLow),
                PacketNames.ip(packet.destinationIpHigh, packet.destinationIpLow),
                PacketOpcode.text(packet.opcode),
                packet.destinationQpn,
                packet.psn));
    line.append(packet.ackRequest ? " AckReq" : "").append(packet.solicited ? " SE" : "");
    line.append(packet.forwardCongestion ? " FECN" : "");
    line.append(packet.backwardCongestion ? " BECN" : "");
  }

  private boolean has(int header) {
    return TransportHeaders.has(packet.opcode, header);
  }

  private void headers() {
    if (has(DATAGRAM)) {
      add(" DETH(qkey 0x%08x srcqp 0x%06x)".formatted(packet.queueKey, packet.sourceQpn));
    }
    if (has(REMOTE_MEMORY)) {
      add(
          " RETH(va 0x%x rkey 0x%08x len %s)"
              .formatted(
                  packet.remoteAddress,
                  packet.remoteKey,
                  Integer.toUnsignedString(packet.dmaLength)));
    }
    if (has(ATOMIC)) {
      add(
          " AtomicETH(va 0x%x rkey 0x%08x swapadd 0x%x compare 0x%x)"
              .formatted(packet.remoteAddress, packet.remoteKey, packet.swapAdd, packet.compare));
    }
    if (has(ACK)) {
      add(" AETH(%s msn %d)".formatted(PacketNames.acknowledgement(packet.syndrome), packet.msn));
    }
    if (has(ATOMIC_ACK)) {
      add(" AtomicAckETH(0x%x)".formatted(packet.original));
    }
    if (has(IMMEDIATE)) {
      add(" imm 0x%08x".formatted(packet.immediate));
    }
    if (has(INVALIDATE)) {
      add(" inv 0x%08x".formatted(packet.invalidateKey));
    }
  }
}

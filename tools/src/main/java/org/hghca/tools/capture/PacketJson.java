package org.hghca.tools.capture;

import static org.hghca.wire.frame.TransportHeaders.*;

import java.util.LinkedHashMap;
import java.util.Map;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;
import org.hghca.wire.frame.TransportHeaders;

/** A packet of a capture as JSON: plain numbers, those of 64 bits as hexadecimal text. */
final class PacketJson {
  private final Packet packet;
  private final Map<String, Object> json = new LinkedHashMap<>();

  private PacketJson(Packet packet) {
    this.packet = packet;
  }

  static Map<String, Object> of(DecodedFrame decoded) {
    PacketJson object = new PacketJson(decoded.packet());
    PacketNames.time(decoded.frame()).ifPresent(time -> object.json.put("time", time));
    if (!decoded.frame().device().isEmpty()) {
      object.json.put("interface", decoded.frame().device());
    }
    PacketNames.direction(decoded.frame()).ifPresent(way -> object.json.put("direction", way));
    object.json.put("frame_length", decoded.frame().length());
    if (decoded.hasPacket()) {
      object.base();
      object.headers();
      object.json.put("length", object.packet.length);
      object.json.put("icrc", object.packet.damaged ? "bad" : "good");
    } else {
      object.json.put("not_decoded", decoded.problem());
    }
    return object.json;
  }

  private void base() {
    json.put("source_mac", PacketNames.mac(packet.sourceMac));
    json.put("destination_mac", PacketNames.mac(packet.destinationMac));
    if (packet.vlan != Packet.NO_VLAN) {
      json.put("vlan", packet.vlan & 0xfff);
    }
    json.put("source", PacketNames.ip(packet.sourceIpHigh, packet.sourceIpLow));
    json.put("destination", PacketNames.ip(packet.destinationIpHigh, packet.destinationIpLow));
    json.put("traffic_class", packet.trafficClass);
    json.put("hop_limit", packet.hopLimit);
    json.put("flow_label", packet.flowLabel);
    json.put("udp_source_port", packet.udpSourcePort);
    json.put("opcode", PacketOpcode.text(packet.opcode));
    json.put("pkey", packet.partitionKey);
    json.put("qpn", packet.destinationQpn);
    json.put("psn", packet.psn);
    json.put("ack_req", packet.ackRequest);
    json.put("solicited", packet.solicited);
    json.put("migrated", packet.migrated);
    json.put("fecn", packet.forwardCongestion);
    json.put("becn", packet.backwardCongestion);
  }

  private boolean has(int header) {
    return TransportHeaders.has(packet.opcode, header);
  }

  private void headers() {
    if (has(DATAGRAM)) {
      json.put("qkey", Integer.toUnsignedLong(packet.queueKey));
      json.put("source_qpn", packet.sourceQpn);
    }
    if (has(REMOTE_MEMORY) || has(ATOMIC)) {
      json.put("va", hex(packet.remoteAddress));
      json.put("rkey", Integer.toUnsignedLong(packet.remoteKey));
    }
    if (has(REMOTE_MEMORY)) {
      json.put("dma_length", Integer.toUnsignedLong(packet.dmaLength));
    }
    if (has(ATOMIC)) {
      json.put("swap_add", hex(packet.swapAdd));
      json.put("compare", hex(packet.compare));
    }
    if (has(ACK)) {
      json.put("aeth", PacketNames.acknowledgement(packet.syndrome));
      json.put("syndrome", packet.syndrome);
      json.put("msn", packet.msn);
    }
    if (has(ATOMIC_ACK)) {
      json.put("original", hex(packet.original));
    }
    if (has(IMMEDIATE)) {
      json.put("immediate", Integer.toUnsignedLong(packet.immediate));
    }
    if (has(INVALIDATE)) {
      json.put("invalidate_rkey", Integer.toUnsignedLong(packet.invalidateKey));
    }
  }

  private static String hex(long value) {
    return "0x" + Long.toHexString(value);
  }
}

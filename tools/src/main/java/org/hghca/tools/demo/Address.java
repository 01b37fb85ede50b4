package org.hghca.tools.demo;

import java.util.HexFormat;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QueuePair;

/**
 * The queue pair and the memory of a reliable connection, as its peer addresses them.
 *
 * @param endpoint of the queue pair
 * @param mtu the active MTU of the port
 * @param memory address of the memory
 * @param rkey of the memory
 */
record Address(QpEndpoint endpoint, Mtu mtu, long memory, int rkey) {
  static final Message<Address> MESSAGE = new Message<>("address", Address::toText, Address::parse);

  /** 0: the transition to RTS needs no command on a card of the RTL, and loses no packet. */
  static final int PSN = 0;

  static Address of(Side side, QueuePair qp, MemoryRegion memory) {
    Mtu mtu = side.context().queryPort(Side.PORT).activeMtu();
    return new Address(side.endpoint(qp, PSN), mtu, memory.address(), memory.rkey());
  }

  /** {@link QpEndpoint#toText}, then {@code mtu address rkey}, the last two in hexadecimal. */
  private String toText() {
    HexFormat hex = HexFormat.of();
    return "%s %d %s %s"
        .formatted(endpoint.toText(), mtu.code(), hex.toHexDigits(memory), hex.toHexDigits(rkey));
  }

  private static Address parse(String text) {
    String[] parts = text.split(" ", -1);
    if (parts.length != 4) {
      throw new IllegalArgumentException("expected endpoint, MTU, address and key");
    }
    return new Address(
        QpEndpoint.parse(parts[0]),
        Mtu.of(Integer.parseInt(parts[1])),
        HexFormat.fromHexDigitsToLong(parts[2]),
        HexFormat.fromHexDigits(parts[3]));
  }
}

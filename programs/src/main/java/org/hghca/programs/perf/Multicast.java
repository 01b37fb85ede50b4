package org.hghca.programs.perf;

import java.util.HexFormat;
import java.util.Optional;
import org.hghca.verbs.Gid;

/**
 * Datagrams to multicast groups: receivers take part in one and tell it to their peers.
 *
 * @param group that of this side; empty is a well-known one
 */
public record Multicast(Optional<Gid> group) {
  /** The group of perftest, ff01:0:2:c985::. */
  private static final Gid IPV6 = Gid.ofHex("ff0100000002c9850000000000000000");

  /** One of the same bytes among the addresses for local use, 239.2.201.133. */
  private static final Gid IPV4 = Gid.ofIpv4(0xef02_c985);

  private static final int BYTES = 16;

  /**
   * Reads a GID as perftest does: sixteen numbers with colons between them.
   *
   * @return empty when it is none, or not that of a group
   */
  public static Optional<Gid> parse(String text) {
    String[] numbers = text.split(":", -1);
    byte[] bytes = new byte[BYTES];
    if (numbers.length != BYTES) {
      return Optional.empty();
    }
    for (int i = 0; i < BYTES; i++) {
      try {
        int number = Integer.decode(numbers[i]);
        if (number < 0 || number > 0xff) {
          return Optional.empty();
        }
        bytes[i] = (byte) number;
      } catch (NumberFormatException _) {
        return Optional.empty();
      }
    }
    return Optional.of(Gid.ofHex(HexFormat.of().formatHex(bytes))).filter(Gid::isMulticast);
  }

  /**
   * The group of a side. The well-known one is of the protocol of its address; that of the client
   * is the next one.
   *
   * @param own the GID of the side
   * @throws PerfException when its group is of another protocol
   */
  public Gid of(Gid own, boolean client) {
    boolean isIpv4 = own.ipv4().isPresent();
    if (group.isPresent()) {
      Gid given = group.get();
      if (given.ipv4().isPresent() != isIpv4) {
        throw new PerfException(
            "Found Incompatibility issue with GID types: GID %s, group %s; choose others by -x, -M"
                .formatted(own, given));
      }
      return given;
    }
    Gid first = isIpv4 ? IPV4 : IPV6;
    return client ? new Gid(first.subnetPrefix(), first.interfaceId() + 1) : first;
  }
}

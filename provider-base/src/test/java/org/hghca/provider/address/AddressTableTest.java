package org.hghca.provider.address;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.util.List;
import org.hghca.verbs.Gid;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.LinkAddress;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AddressTableTest {
  /** Also where the device resolves Ethernet addresses by itself: no host answers for a group. */
  @ParameterizedTest
  @CsvSource({
    "00000000000000000000ffffef810203, 01005e010203",
    "00000000000000000000ffffe07ffffe, 01005e7ffffe",
    "ff020000000000000000000187654321, 333387654321"
  })
  void groupHasADerivedEthernetAddress(String group, String mac) {
    for (boolean finds : new boolean[] {false, true}) {
      LinkAddress own =
          new LinkAddress(0x0200_0000_0001L, List.of(InetAddress.ofLiteral("10.0.0.1")));
      AddressTable table =
          new AddressTable(
              "device", own, List.of(Gid.ofIpv4(own.ip())), new Neighbors(), finds, true);
      assertThat(table.macOf(Gid.ofHex(group))).isEqualTo(Long.parseLong(mac, 16));
    }
  }

  /** The port has two addresses of IPv6 and three of IPv4. */
  @ParameterizedTest
  @CsvSource({
    "00000000000000000000ffff0a000002, 2",
    "00000000000000000000ffffc0a80105, 3",
    "00000000000000000000ffffc0a80205, 4",
    "00000000000000000000ffff08080808, 2",
    "fe800000000000000000000000000005, 0",
    "fd000000000000010000000000000005, 1",
    "fd000000000000020000000000000005, 1"
  })
  void aPeerIsReachedFromItsFamilyAndSubnet(String peer, int index) {
    LinkAddress own =
        new LinkAddress(0x0200_0000_0001L, List.of(InetAddress.ofLiteral("10.0.0.1")));
    List<Gid> gids =
        List.of(
            Gid.ofMac(own.mac()),
            Gid.ofHex("fd000000000000010000000000000001"),
            Gid.ofIpv4(own.ip()),
            Gid.ofIpv4(0xc0a8_0101),
            Gid.ofIpv4(0xc0a8_0201));
    AddressTable table = new AddressTable("device", own, gids, new Neighbors(), false, true);
    assertThat(table.indexToward(Gid.ofHex(peer))).isEqualTo(index);
    AddressTable ipv4 =
        new AddressTable("device", own, gids.subList(2, 3), new Neighbors(), false, true);
    assertThat(ipv4.indexToward(Gid.ofIpv4(5))).isZero();
    assertThatThrownBy(() -> ipv4.indexToward(gids.getFirst()))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("no GID of the family of");
  }
}

package org.hghca.provider;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.util.List;
import org.hghca.verbs.Gid;
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
}

package org.hghca.provider.address;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.hghca.verbs.Gid;
import org.junit.jupiter.api.Test;

public class NeighborsTest {
  private final Neighbors neighbors = new Neighbors();

  @Test
  public void linkLocalGidContainsItsMac() {
    // fe80::a8bb:ccff:fedd:eeff is made from aa:bb:cc:dd:ee:ff.
    assertThat(neighbors.resolve(Gid.ofHex("fe80000000000000a8bbccfffeddeeff")))
        .isEqualTo(0xaabb_ccdd_eeffL);
  }

  @Test
  public void macOfAnIpv4GidMustBeAdded() {
    Gid gid = Gid.ofIpv4(0x0a00_0001);
    assertThatThrownBy(() -> neighbors.resolve(gid))
        .hasMessageContaining("0000:0000:0000:0000:0000:ffff:0a00:0001")
        .hasMessageContaining("Context.addNeighbor");
    neighbors.add(gid, 0x0200_0000_0001L);
    assertThat(neighbors.resolve(gid)).isEqualTo(0x0200_0000_0001L);
  }

  @Test
  public void macHas48Bits() {
    assertThatThrownBy(() -> neighbors.add(Gid.ofIpv4(1), 1L << 48))
        .hasMessageContaining("not a 48-bit MAC");
  }
}

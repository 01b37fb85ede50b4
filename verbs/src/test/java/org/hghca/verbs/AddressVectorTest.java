package org.hghca.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.verbs.Failures.assertErrno;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AddressVectorTest {
  private static final Gid PEER = Gid.ofIpv4(0x0a000002);

  @Test
  void routeToAGid() {
    AddressVector way = AddressVector.to(PEER, 1);

    assertThat(way).isEqualTo(new AddressVector(PEER, 1, 0, 64, 0, 0, 1));
    assertThat(way.isGlobal()).isTrue();
    assertThat(AddressVector.to(Gid.NONE, 0).isGlobal()).isFalse();
  }

  @Test
  void largestValuesFit() {
    AddressVector way = new AddressVector(PEER, 255, 0xf_ffff, 255, 255, 15, 255);

    assertThat(way.flowLabel()).isEqualTo(0xf_ffff);
  }

  @ParameterizedTest
  @CsvSource({
    "256, 0, 0, 0, 0, 1, source GID index 256, 8 bits",
    "-1, 0, 0, 0, 0, 1, source GID index -1, 8 bits",
    "0, 1048576, 0, 0, 0, 1, flow label 1048576, 20 bits",
    "0, 0, 256, 0, 0, 1, hop limit 256, 8 bits",
    "0, 0, 0, 256, 0, 1, traffic class 256, 8 bits",
    "0, 0, 0, 0, 16, 1, service level 16, 4 bits",
    "0, 0, 0, 0, 0, 256, port 256, 8 bits",
    "0, 0, 0, 0, 0, -1, port -1, 8 bits"
  })
  void valueOutOfRangeIsNamed(
      int gid, int flow, int hops, int traffic, int level, int port, String what, String width) {
    assertErrno(Errno.EINVAL, () -> new AddressVector(PEER, gid, flow, hops, traffic, level, port))
        .hasMessageContainingAll(what, width);
  }

  @Test
  void destinationMustBeGiven() {
    assertThatThrownBy(() -> AddressVector.to(null, 0)).isInstanceOf(NullPointerException.class);
  }
}

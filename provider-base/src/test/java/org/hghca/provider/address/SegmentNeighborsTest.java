package org.hghca.provider.address;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalLong;
import org.hghca.verbs.Gid;
import org.hghca.vfio.LinkAddress;
import org.hghca.vfio.Locator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SegmentNeighborsTest {
  private static final Locator PEER = Locator.parse("model:b?cable=sn&ip=10.0.0.2,fd00::2");
  private static final Gid IPV4 = Gid.ofHex("00000000000000000000ffff0a000002");
  private static final Gid IPV6 = Gid.ofHex("fd000000000000000000000000000002");

  private final LinkAddress address = LinkAddress.of(PEER);
  private final SegmentNeighbors peer = new SegmentNeighbors(PEER);

  @AfterEach
  void leave() {
    peer.leave(address);
  }

  private static OptionalLong from(String locator, Gid gid) {
    return new SegmentNeighbors(Locator.parse(locator)).mac(gid);
  }

  @Test
  void addressesAreFoundWhileThePortIsUp() {
    assertThat(from("model:a?cable=sn", IPV4)).isEmpty();
    peer.join(address);
    assertThat(from("model:a?cable=sn", IPV4)).hasValue(address.mac());
    assertThat(from("virtio:a?cable=sn", IPV6)).hasValue(address.mac());
    assertThat(from("model:a?cable=sn", Gid.ofIpv4(0x0a00_0003))).isEmpty();
    peer.leave(address);
    assertThat(from("model:a?cable=sn", IPV4)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"model:a", "model:a?cable=other", "model:a?hub=sn", "model:a?cable=sn&sim=x"})
  void otherSegmentsDoNotFindThem(String locator) {
    peer.join(address);
    assertThat(from(locator, IPV4)).isEmpty();
  }

  @Test
  void laterPortHasTheAddressOfTwo() {
    Locator second = Locator.parse("model:c?cable=sn&ip=10.0.0.2");
    LinkAddress its = LinkAddress.of(second);
    SegmentNeighbors later = new SegmentNeighbors(second);
    peer.join(address);
    later.join(its);
    peer.leave(address);
    assertThat(from("model:a?cable=sn", IPV4)).hasValue(its.mac());
    later.leave(its);
    assertThat(from("model:a?cable=sn", IPV4)).isEmpty();
  }
}

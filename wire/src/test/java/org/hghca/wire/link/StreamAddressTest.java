package org.hghca.wire.link;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Socket addresses of streams. */
final class StreamAddressTest {

  /** The wildcard address of the machine is an IPv4 address, too. */
  @Test
  void streamCanListenOnAllAddresses() {
    assertThat(StreamAddress.parse("listen:0.0.0.0:9000").family()).isEqualTo(2);
    assertThat(StreamAddress.parse("listen:127.0.0.1:9000").family()).isEqualTo(2);
    assertThat(StreamAddress.parse("listen:[::]:9000").family()).isEqualTo(10);
  }
}

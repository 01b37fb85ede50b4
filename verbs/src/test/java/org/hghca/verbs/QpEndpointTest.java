package org.hghca.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.verbs.Failures.assertErrno;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The text that the ping-pong examples exchange: 52 bytes with the NUL that ends it. */
class QpEndpointTest {
  private static final String TEXT = "00a1:00b2c3:0d4e5f:fe80000000000000020c29fffe0c47d5";

  @Test
  void textIsThatOfThePingPongs() {
    QpEndpoint endpoint =
        new QpEndpoint(0xa1, 0xb2c3, 0xd4e5f, Gid.ofHex("fe80000000000000020c29fffe0c47d5"));

    assertThat(endpoint.toText()).isEqualTo(TEXT).hasSize(51);
    assertThat(QpEndpoint.parse(TEXT)).isEqualTo(endpoint);
  }

  @Test
  void largestValuesFit() {
    QpEndpoint endpoint = new QpEndpoint(0xffff, 0xff_ffff, 0xff_ffff, new Gid(-1, -1));

    assertThat(endpoint.toText()).isEqualTo("ffff:ffffff:ffffff:" + "f".repeat(32));
    assertThat(QpEndpoint.parse(endpoint.toText())).isEqualTo(endpoint);
  }

  @Test
  void memoryForTheWrapFollows() {
    QpEndpoint endpoint =
        new QpEndpoint(
            1,
            2,
            3,
            Gid.NONE,
            Optional.of(new WrapMemory(0x8100_0002, 0xffff_ffff_ffff_f000L, 4096)));

    assertThat(endpoint.toText())
        .isEqualTo("0001:000002:000003:" + "0".repeat(32) + ":81000002:fffffffffffff000:00001000");
    assertThat(QpEndpoint.parse(endpoint.toText())).isEqualTo(endpoint);
  }

  @Test
  void textOfFourPartsOffersNoMemory() {
    assertThat(QpEndpoint.parse("0001:000002:000003:" + "0".repeat(32)).wrapMemory()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "81000002:0000000000000000", // no length
        "81000002:0000000000000000:00001000:", // a part more
        "00000000:0000000000000000:00001000", // no key
        "81000002:0000000000000000:00000fff", // too short
        "81000002:0000000000000000:80000000", // of negative length
        "81000002:fffffffffffff001:00001000", // beyond the end of the address space
        "8100002:0000000000000000:00001000",
        "81000002:000000000000000:00001000",
        "81000002:0000000000000000:0001000",
        "81000002:00000000000000-1:00001000"
      })
  void malformedMemoryIsRefused(String memory) {
    String text = "0001:000002:000003:" + "0".repeat(32) + ":" + memory;

    assertErrno(Errno.EINVAL, () -> QpEndpoint.parse(text)).hasMessageContaining("'" + text + "'");
  }

  @Test
  void portWithoutGidSendsZeros() {
    assertThat(new QpEndpoint(1, 2, 3, Gid.NONE).toText())
        .isEqualTo("0001:000002:000003:00000000000000000000000000000000");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "done",
        "00a1:00b2c3:0d4e5f:fe80000000000000020c29fffe0c47d",
        "00a1:00b2c3:0d4e5f:fe80000000000000020c29fffe0c47d5\0",
        "00a1:00b2c3:0d4e5f:fe80000000000000020c29fffe0c47dx",
        "00a1:00b2c3:0d4e5f;fe80000000000000020c29fffe0c47d5",
        "00a1:00b2c3:0d4e5f:fe80:00000000000020c29fffe0c47d5",
        "00x1:00b2c3:0d4e5f:fe80000000000000020c29fffe0c47d5",
        "-0a1:00b2c3:0d4e5f:fe80000000000000020c29fffe0c47d5",
        "00a1:+0b2c3:0d4e5f:fe80000000000000020c29fffe0c47d5",
        "00a1:00b2c3:-d4e5f:fe80000000000000020c29fffe0c47d5",
        "00a100:b2c3:0d4e5f:fe80000000000000020c29fffe0c47d5",
        "00a1:00b2c:30d4e5f:fe80000000000000020c29fffe0c47d5",
        ":00a100b2c3:0d4e5f:fe80000000000000020c29fffe0c47d5"
      })
  void malformedTextIsRefused(String text) {
    assertErrno(Errno.EINVAL, () -> QpEndpoint.parse(text))
        .hasMessageContainingAll("'" + text + "'", "lid:qpn:psn:gid");
  }
}

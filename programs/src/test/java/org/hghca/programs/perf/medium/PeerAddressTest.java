package org.hghca.programs.perf.medium;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Optional;
import org.hghca.verbs.Gid;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The messages as perftest writes them. */
class PeerAddressTest {
  private static final PeerAddress WITHOUT_GID =
      new PeerAddress(3, 16, 0x1c7, 0x8d4b3c, 0xbeef, 0x7f00_1234_5000L, 0, Optional.empty());
  private static final PeerAddress WITH_GID =
      new PeerAddress(0, 1, 0xabcdef, 1, 0x8000_0001, -1, 0, Optional.of(Gid.ofIpv4(0x0a00_020f)));

  private static byte[] message(String text) {
    return (text + "\0").getBytes(StandardCharsets.US_ASCII);
  }

  @Test
  void messagesHaveOneFormatWithAndOneWithoutGid() {
    byte[] without = message("0003:0010:0001c7:8d4b3c:0000beef:00007f0012345000:00000000");
    byte[] with =
        message(
            "0000:0001:abcdef:000001:80000001:ffffffffffffffff:"
                + "00:00:00:00:00:00:00:00:00:00:ff:ff:0a:00:02:0f:00000000:");
    assertThat(without).hasSize(59);
    assertThat(with).hasSize(108);
    assertThat(WITHOUT_GID.toMessage()).isEqualTo(without);
    assertThat(WITH_GID.toMessage()).isEqualTo(with);
    assertThat(PeerAddress.parse(without)).isEqualTo(WITHOUT_GID);
    assertThat(PeerAddress.parse(with)).isEqualTo(WITH_GID);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "0003:0010:0001c7:8d4b3c:0000beef:00007f0012345000",
        "0003:0010:0001c7:8d4b3c:0000beef:00007f0012345000:0000000x",
        "3:0010:0001c7:8d4b3c:0000beef:00007f0012345000:00000000",
        "0003:0010:0001c7:8d4b3c:0000beef::00000000",
        "0000:0001:abcdef:000001:80000001:ffffffffffffffff:"
            + "0:00:00:00:00:00:00:00:00:00:ff:ff:0a:00:02:0f:00000000:",
        "0000:0001:abcdef:000001:80000001:ffffffffffffffff:"
            + "00:00:00:00:00:00:00:00:00:00:ff:ff:0a:00:02:0f:00000000"
      })
  void otherTextIsNone(String text) {
    assertThatThrownBy(() -> PeerAddress.parse(message(text)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void structureIsThatOfPerftest() {
    PeerAddress address =
        new PeerAddress(
            1,
            16,
            0x11,
            0xabcdef,
            0x1234,
            0x7f00_0000_1000L,
            0,
            Optional.of(Gid.ofIpv4(0x0a630001)));
    String hex =
        "00000001"
            + "00000010"
            + "00000011"
            + "00abcdef"
            + "00001234"
            + "00000000"
            + "00007f0000001000"
            + "00000000000000000000ffff0a630001"
            + "00000000"
            + "00000000";
    assertThat(HexFormat.of().formatHex(address.toStructure())).isEqualTo(hex);
    assertThat(PeerAddress.ofStructure(HexFormat.of().parseHex(hex))).isEqualTo(address);
    assertThat(PeerAddress.ofStructure(new byte[56])).isEqualTo(PeerAddress.NONE);
    assertThat(PeerAddress.NONE.toStructure()).isEqualTo(new byte[56]);
  }
}

package org.hghca.vfio.user;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.hghca.linux.LinuxErrno;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A valid version message of a client is accepted, an invalid one refused with EINVAL. */
final class VersionTest extends WithServer {
  private static final int EINVAL = LinuxErrno.EINVAL.number();

  @Override
  RawClient open(String socket) {
    return RawClient.connect(socket);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{",
        "\"",
        "capabilities",
        "{\"capabilities\":{}",
        "{\"capabilities\":{}} and more",
        "[]",
        "\"{}\"",
        "7",
        "null",
        "{\"capabilities\":23}",
        "{\"capabilities\":\"23\"}",
        "{\"capabilities\":[]}",
        "{\"capabilities\":null}",
        "{\"capabilities\":{\"max_msg_fds\":\"foo\"}}",
        "{\"capabilities\":{\"max_msg_fds\":-1}}",
        "{\"capabilities\":{\"max_msg_fds\":1.5}}",
        "{\"capabilities\":{\"max_msg_fds\":null}}",
        "{\"capabilities\":{\"max_data_xfer_size\":\"4096\"}}",
        "{\"capabilities\":{\"max_data_xfer_size\":0}}",
        "{\"capabilities\":{\"max_data_xfer_size\":-4096}}",
        "{\"capabilities\":{\"max_data_xfer_size\":{}}}",
        "{\"capabilities\":{\"max_dma_maps\":true}}",
        "{\"capabilities\":{\"pgsizes\":\"4096\"}}",
        "{\"capabilities\":{\"write_multiple\":1}}",
        "{\"capabilities\":{\"migration\":\"23\"}}",
        "{\"capabilities\":{\"migration\":{\"pgsize\":\"foo\"}}}",
        "{\"capabilities\":{\"migration\":{\"max_bitmap_size\":[]}}}",
        "{\"capabilities\":{\"twin_socket\":true}}",
        "{\"capabilities\":{\"twin_socket\":{\"supported\":1}}}"
      })
  void aTextThatCannotBeIsRefused(String text) {
    assertThat(client.greet(text)).isEqualTo(EINVAL);
    assertThat(client.read(7, 0, 4)).as("nothing was agreed on").isEqualTo(EINVAL);
    assertThat(client.greet("{}")).as("a second try").isZero();
  }

  @Test
  void textWithoutItsNulIsRefused() {
    assertThat(client.greet("{}".getBytes(StandardCharsets.US_ASCII))).isEqualTo(EINVAL);
    assertThat(client.greet("{}\0 ".getBytes(StandardCharsets.US_ASCII))).isEqualTo(EINVAL);
    assertThat(client.greet("{}\0 \0".getBytes(StandardCharsets.US_ASCII))).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        " { \"capabilities\" : { } } ",
        "{\"capabilities\":{\"max_msg_fds\":32,\"max_data_xfer_size\":1024}}",
        "{\"capabilities\":{\"max_msg_fds\":0,\"max_data_xfer_size\":1}}",
        "{\"capabilities\":{\"max_msg_fds\":99999,\"max_data_xfer_size\":99999999999999999999}}",
        "{\"capabilities\":{\"migration\":{\"pgsize\":4095},\"twin_socket\":{\"supported\":true}}}",
        "{\"capabilities\":{\"unheard_of\":[null,{\"a\":1.5}]},\"more\":null}"
      })
  void validTextIsAccepted(String text) {
    assertThat(client.greet(text)).isZero();
    assertThat(client.read(7, 0, 4)).isZero();
  }
}

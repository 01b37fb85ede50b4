package org.hghca.virtio.abi.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The names of features, against the headers of Linux. */
class FeatureNamesTest {
  private static final Pattern BIT =
      Pattern.compile("^#define (VIRTIO_(?:NET_)?F_\\w+)\\s+(\\d+)", Pattern.MULTILINE);

  @ParameterizedTest
  @CsvSource({"virtio_net.h, 25", "virtio_config.h, 8"})
  void areThoseOfTheKernel(String header, int least) throws IOException {
    Path file = Path.of("/usr/include/linux", header);
    assumeTrue(Files.exists(file), "the headers of Linux are installed");
    Matcher bits = BIT.matcher(Files.readString(file));
    int seen = 0;
    while (bits.find()) {
      assertThat(NetFeature.name(Integer.parseInt(bits.group(2)))).isEqualTo(bits.group(1));
      seen++;
    }
    assertThat(seen).isGreaterThanOrEqualTo(least);
  }
}

package org.hghca.tools.raw;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.hghca.vfio.Locator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Configuration space beside the one who has the function open. */
class SystemConfigurationTest {
  @TempDir private Path folder;

  @Test
  void whatTheSystemShowsIsReadAndTheRestIsZero() throws IOException {
    byte[] shown = new byte[0x40];
    shown[0x06] = 0x10;
    shown[0x07] = (byte) 0xa8;
    Path file = Files.write(folder.resolve("config"), shown);
    SystemConfiguration space = new SystemConfiguration(file);

    assertThat(space.read(0x06, 2)).isEqualTo(0xa810);
    assertThat(space.read(0x04, 4)).isEqualTo(0xa810_0000);
    assertThat(space.read(0x07, 1)).isEqualTo(0xa8);
    assertThat(space.read(0x40, 4)).isZero();
    assertThat(PciErrors.of(space).names())
        .containsExactly("signaled target abort", "received master abort", "detected parity error");
  }

  @Test
  void functionThatHasGoneReadsAsZero() {
    assertThat(new SystemConfiguration(folder.resolve("none")).read(0, 4)).isZero();
  }

  @Test
  void deviceInSoftwareHasNone() {
    assertThat(SystemConfiguration.of(Locator.parse("model:"))).isEmpty();
    assertThat(SystemConfiguration.of(Locator.parse("pci:ffff:ff:1f.7"))).isEmpty();
  }
}

package org.hghca.vfio.user;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import org.hghca.linux.Linux;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A server of one function, and that function; closing them leaves no descriptor. */
abstract class WithFakeServer {
  @TempDir Path directory;
  FakeServer server;
  PciFunction function;
  private Map<String, Integer> before;

  @BeforeEach
  void serve() {
    assertThat(Linux.system()).isNotNull(); // bound before descriptors are counted
    before = Descriptors.open();
    server = new FakeServer(directory);
  }

  @AfterEach
  void nothingIsLeft() {
    if (function != null) {
      function.close();
    }
    server.close();
    assertThat(Descriptors.open()).isEqualTo(before);
  }

  PciFunction open(String parameters) {
    function = PciFunctions.open(Locator.parse(server.locator() + parameters));
    return function;
  }
}

package org.hghca.vfio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.hghca.vfio.VfioException.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PciFunctionsTest {
  @TempDir Path folder;

  /**
   * Makes the calling thread find backends of other projects, as those of a jar, until it is
   * closed.
   */
  private AutoCloseable with(Class<?>... backends) throws IOException {
    Path services = Files.createDirectories(folder.resolve("META-INF/services"));
    Files.write(
        services.resolve(PciFunctionProvider.class.getName()),
        Arrays.stream(backends).map(Class::getName).toList());
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()}, before);
    thread.setContextClassLoader(loader);
    return () -> {
      thread.setContextClassLoader(before);
      loader.close();
    };
  }

  @Test
  void schemeChoosesTheBackend() throws Exception {
    try (var _ = with(StubProvider.class);
        PciFunction function = PciFunctions.open(Locator.parse("stub:x?y=1"))) {
      assertThat(function.locator()).hasToString("stub:x?y=1");
      assertThat(function.region(0).size()).isEqualTo(0x1000);
    }
  }

  @Test
  void unknownSchemeNamesTheKnownOnes() throws Exception {
    try (var _ = with(StubProvider.class)) {
      assertReason(Reason.NOT_FOUND, () -> PciFunctions.open(Locator.parse("pcie:0000:03:00.0")))
          .hasMessageContainingAll("'pcie:0000:03:00.0'", " pci:, ", " stub:, ", " vfio-user:");
    }
  }

  @Test
  void kernelBackendIsAmongThem() {
    assertThatThrownBy(() -> PciFunctions.open(Locator.parse("pci:nonsense")))
        .isInstanceOf(VfioException.class)
        .hasMessageContaining("names no PCI function");
  }

  @Test
  void selectorIsResolvedByItsBackend() throws Exception {
    try (var _ = with(StubProvider.class)) {
      assertThat(PciFunctions.resolve(Locator.parse("stub:x?y=1"))).hasToString("stub:X?y=1");
      assertThat(PciFunctions.resolve(Locator.parse("nosuch:x"))).hasToString("nosuch:x");
    }
  }

  @Test
  void schemeOfTwoBackendsIsRefused() throws Exception {
    try (var _ = with(StubProvider.class, OtherStubProvider.class)) {
      assertReason(Reason.INVALID, () -> PciFunctions.open(Locator.parse("stub:x")))
          .hasMessageContainingAll(
              "more than one backend opens stub:x",
              StubProvider.class.getName(),
              OtherStubProvider.class.getName());
    }
  }

  @Test
  void functionsOfAllBackendsAreListedInOrder() throws Exception {
    try (var _ = with(StubProvider.class)) {
      assertThat(PciFunctions.enumerate())
          .isSorted()
          .containsSubsequence(Locator.parse("stub:a"), Locator.parse("stub:b"));
    }
  }
}

package org.hghca.vfio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.inprocess.FakeDevice;
import org.hghca.vfio.inprocess.InProcessFunction;
import org.hghca.vfio.trace.TraceFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TracedFunctionTest {
  private final FakeDevice device = new FakeDevice();
  private final PciFunctionProvider provider = new Provider();

  @TempDir Path folder;

  private final class Provider implements PciFunctionProvider {
    @Override
    public String scheme() {
      return "fake";
    }

    @Override
    public List<Locator> enumerate() {
      return List.of();
    }

    @Override
    public PciFunction open(Locator locator) {
      if (locator.name().equals("broken")) {
        throw new VfioException(Reason.NOT_FOUND, "there is no such card");
      }
      return InProcessFunction.connect(locator, device);
    }
  }

  private Path file() {
    return folder.resolve("t.jsonl");
  }

  private Locator locator(String name) {
    return Locator.parse("fake:" + name).with("trace", file().toString());
  }

  private PciFunction open(String name) {
    return TracedFunction.open(provider, locator(name));
  }

  private List<String> lines() throws IOException {
    return Files.readAllLines(file());
  }

  @Test
  void untracedFunctionIsThatOfTheBackend() {
    try (PciFunction function = TracedFunction.open(provider, Locator.parse("fake:card"))) {
      assertThat(function).isInstanceOf(InProcessFunction.class);
      assertThat(function.trace()).isEmpty();
    }
  }

  @Test
  void mappingsInterruptsAndResetsAreRecorded() throws IOException {
    long iova;
    try (PciFunction function = open("card")) {
      DmaMapping mapping = function.allocate(8192);
      iova = mapping.iova(0);
      Interrupts interrupts = function.interrupts();
      device.bus().raise(2);
      assertThat(interrupts.await(0)).isEqualTo(4);
      assertThat(interrupts.await(0)).isZero();
      assertThat(interrupts.count(2)).isOne();
      function.reset();
      mapping.close();
      mapping.close();
    }

    assertThat(lines()).hasSize(6);
    assertThat(lines().get(0)).startsWith("{\"trace\":1,\"started\":\"");
    assertThat(lines().get(1))
        .isEqualTo("{\"device\":\"fake:card\",\"events\":4,\"lost_control\":0,\"lost_data\":0}");
    String range = "\"iova\":\"0x%x\",\"bytes\":8192,\"access\":\"READ_WRITE\"}".formatted(iova);
    assertThat(lines().get(2)).contains("\"kind\":\"dma-map\"").endsWith(range);
    assertThat(lines().get(3)).contains("\"kind\":\"interrupt\"", "\"title\":\"vector 2\"");
    assertThat(lines().get(4)).contains("\"kind\":\"reset\"");
    assertThat(lines().get(5)).contains("\"kind\":\"dma-unmap\"").endsWith(range);
  }

  @Test
  void fileIsWrittenWhenItsLastDeviceCloses() throws IOException {
    PciFunction first = open("first");
    PciFunction second = open("second");
    first.reset();
    first.close();
    first.close();

    assertThat(lines()).isEmpty();
    second.reset();
    second.close();
    assertThat(lines()).hasSize(5).filteredOn(line -> line.contains("\"kind\"")).hasSize(2);
  }

  @Test
  void deviceThatIsOpenedAgainGoesOnWhileTheFileIsOpen() throws IOException {
    try (TraceFile _ = TraceFile.open(file().toString())) {
      for (int i = 0; i < 2; i++) {
        try (PciFunction function = open("card")) {
          function.reset();
        }
      }
      assertThat(lines()).isEmpty();
    }

    assertThat(lines()).hasSize(4);
    assertThat(lines().get(1)).contains("\"events\":2");
  }

  @Test
  void whatIsSeenAfterTheFileWasWrittenIsNotRecorded() throws IOException {
    TraceFile file = TraceFile.open(file().toString());
    try (PciFunction function = open("card")) {
      function.reset();
      assertThat(file.write()).isEqualTo("1 events");
      function.reset();
      assertThat(file.write()).isEmpty();
      assertThat(TracedFunction.trace(locator("card"))).isEmpty();
    }
    file.close();

    assertThat(lines()).hasSize(3);
  }

  @Test
  void functionThatDoesNotOpenLeavesTheFileClosed() throws IOException {
    assertThatThrownBy(() -> open("broken")).hasMessage("there is no such card");

    assertThat(lines()).hasSize(1);
    assertThat(TracedFunction.trace(locator("broken"))).isEmpty();
  }

  @Test
  void fileThatCannotBeWrittenIsRefusedBeforeTheFunctionOpens() {
    Locator locator = Locator.parse("fake:broken").with("trace", folder.toString());

    assertReason(Reason.INVALID, () -> TracedFunction.open(provider, locator))
        .hasMessage("the trace %s cannot be written: Is a directory", folder);
  }
}

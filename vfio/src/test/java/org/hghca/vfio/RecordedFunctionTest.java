package org.hghca.vfio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.hghca.vfio.inprocess.FakeDevice;
import org.hghca.vfio.inprocess.InProcessFunction;
import org.hghca.vfio.trace.TraceFile;
import org.hghca.vfio.trace.TraceKind;
import org.hghca.vfio.trace.TraceText;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecordedFunctionTest {
  private static final TraceKind EVENT =
      TraceKind.data("event", _ -> TraceText.of("track", "title"));

  private final FakeDevice device = new FakeDevice();

  @TempDir Path folder;

  private final PciFunctionProvider provider =
      new PciFunctionProvider() {
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
          return InProcessFunction.connect(locator, device);
        }
      };

  private Path file() {
    return folder.resolve("t");
  }

  private PciFunction open() {
    return TracedFunction.open(
        provider,
        Locator.parse("fake:card")
            .with("mac", "02:00:00:00:00:07")
            .with("ip", "10.0.0.7,fd00::7")
            .with("trace", file() + ",full"));
  }

  /** The lines without time and device; those of mappings have another line of the time line. */
  private List<String> lines() throws IOException {
    return Files.readAllLines(file()).stream()
        .filter(line -> !line.contains("\"kind\":\"dma-") && !line.contains("\"kind\":\"reset\""))
        .map(line -> line.replaceAll("\"ns\":\\d+,\"device\":\"fake:card\",", ""))
        .toList();
  }

  @Test
  void registersMappingsAndMemoryAreRecordedInTheirOrder() throws IOException {
    long iova;
    try (PciFunction function = open()) {
      function.configuration().write(ConfigurationSpace.COMMAND, 2, 6);
      DmaMapping mapping = function.allocate(8192);
      iova = mapping.iova(0);
      mapping.segment().set(ValueLayout.JAVA_INT, 4096, 0x04030201);
      function.region(0).writeInt(0x18, 0x80);
      assertThat(device.dmaWrite(iova, 9, 8)).isTrue();
      int first = function.region(0).readInt(0x1c);
      assertThat(function.region(0).readInt(0x1c)).isEqualTo(first);
      mapping.segment().set(ValueLayout.JAVA_BYTE, 4, (byte) 7);
      mapping.segment().set(ValueLayout.JAVA_BYTE, 12, (byte) 7);
      function.trace().orElseThrow().record(EVENT, 0, 0, 0, 0);
      function.reset();
      mapping.close();
    }

    List<String> lines = lines();
    assertThat(lines.getFirst()).startsWith("{\"trace\":1,\"started\":").endsWith("\"full\":1}");
    assertThat(lines.get(1))
        .startsWith("{\"kind\":\"open\",\"vendor\":\"0x")
        .endsWith("\"mac\":\"02:00:00:00:00:07\",\"ip\":\"10.0.0.7,fd00:0:0:0:0:0:0:7\"}");
    assertThat(lines.subList(2, lines.size() - 1))
        .map(line -> line.replaceAll("(\"at\":\"0\\+0x1c\",\"width\":4),.*", "$1}"))
        .containsExactly(
            "{\"kind\":\"config\",\"at\":\"0x4\",\"width\":2,\"value\":\"0x6\"}",
            "{\"kind\":\"map\",\"map\":0,\"bytes\":8192,\"allocated\":1,\"access\":\"READ_WRITE\","
                + "\"iova\":\"0x%x+8192\"}".formatted(iova),
            "{\"kind\":\"memory\",\"map\":0,\"offset\":4096,\"bytes\":\"01020304\"}",
            "{\"kind\":\"store\",\"at\":\"0+0x18\",\"width\":4,\"value\":\"0x80\"}",
            "{\"kind\":\"memory\",\"map\":0,\"offset\":0,\"bytes\":\"09080000\"}",
            "{\"kind\":\"load\",\"at\":\"0+0x1c\",\"width\":4}",
            "{\"kind\":\"memory\",\"map\":0,\"offset\":4,\"bytes\":\"07000000\"}",
            "{\"kind\":\"memory\",\"map\":0,\"offset\":12,\"bytes\":\"07000000\"}",
            "{\"kind\":\"event\",\"track\":\"track\",\"title\":\"title\"}",
            "{\"kind\":\"reset-function\"}",
            "{\"kind\":\"unmap\",\"map\":0}",
            "{\"kind\":\"close\"}");
    int before = Files.readAllLines(file()).size() - 1;
    assertThat(lines.getLast()).isEqualTo("{\"end\":%d}".formatted(before));
  }

  @Test
  void noRegisterIsPlainMemory() {
    try (PciFunction function = open()) {
      assertThat(function.region(0).isMapped()).isFalse();
      assertThat(function.region(0).address(0)).isZero();
    }
  }

  @Test
  void mappedMemoryOfAnyAddressIsRecorded() throws IOException {
    try (PciFunction function = open();
        Arena arena = Arena.ofShared()) {
      try (DmaMapping mapping =
          function.map(arena.allocate(4096, 4096).asSlice(10, 7), DmaAccess.READ)) {
        mapping.segment().set(ValueLayout.JAVA_BYTE, 6, (byte) 1);
        function.region(0).writeInt(0, 0);
        assertThat(mapping.iova(0) & 0xfff).isEqualTo(10);
      }
    }

    assertThat(lines())
        .contains("{\"kind\":\"memory\",\"map\":0,\"offset\":4,\"bytes\":\"000001\"}")
        .anyMatch(
            line -> line.contains("\"allocated\":0,\"access\":\"READ\"") && line.contains("00a+7"));
  }

  @Test
  void memoryThatIsGoneIsSaidToBeLostOnce() throws IOException {
    try (PciFunction function = open()) {
      Arena arena = Arena.ofShared();
      DmaMapping mapping = function.map(arena.allocate(4096, 4096), DmaAccess.READ_WRITE);
      arena.close();
      function.region(0).writeInt(0, 0);
      function.region(0).writeInt(0, 1);
      mapping.close();
    }

    assertThat(lines())
        .containsOnlyOnce("{\"kind\":\"lost\",\"map\":0,\"why\":\"Already closed\"}");
  }

  @Test
  void fileIsEitherWholeOrNot() {
    try (PciFunction _ = open()) {
      assertThatThrownBy(() -> TraceFile.open(file().toString()))
          .hasMessage("the trace %s is open already, and only one of the two is full", file());
    }
  }

  @Test
  void fullDiskIsNamed() {
    TraceFile file = TraceFile.open("/dev/full,full");

    assertThatThrownBy(file::write)
        .hasMessage("the trace /dev/full cannot be written: No space left on device");
    file.close();
  }

  @Test
  void malformedAddressLeavesFunctionAndFileClosed() throws IOException {
    Locator locator =
        Locator.parse("fake:card").with("mac", "none").with("trace", file() + ",full");

    assertThatThrownBy(() -> TracedFunction.open(provider, locator))
        .isInstanceOf(VfioException.class);
    assertThat(Files.readString(file())).endsWith("{\"end\":1}\n");
  }
}

package org.hghca.uar;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.hghca.abi.Bar;
import org.hghca.abi.Doorbell;
import org.hghca.abi.WqeOpcode;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.testing.StubFunction;
import org.hghca.vfio.trace.DeviceTrace;
import org.hghca.vfio.trace.TraceFile;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Doorbells of a card whose BAR is mapped memory, with and without a trace. */
class DoorbellRecordTest {
  @TempDir Path folder;
  @AutoClose private final Arena arena = Arena.ofShared();
  private Optional<DeviceTrace> trace = Optional.empty();

  private UarPage page() {
    MmioRegion bar = MmioRegion.mapped(arena.allocate(2 * Bar.UAR_PAGE_SIZE, 8));
    UarAllocator uars =
        UarAllocator.open(
            new StubFunction() {
              @Override
              public MmioRegion region(int number) {
                return bar;
              }

              @Override
              public Optional<DeviceTrace> trace() {
                return trace;
              }
            });
    uars.allocate();
    return uars.allocate();
  }

  @Test
  void ringsStoreToTheRegisterOfAnUntracedCard() {
    assertThat(page().sendQueueAddress()).isNotZero();
  }

  @Test
  void everyDoorbellOfATracedCardIsRecorded() throws IOException {
    Path name = folder.resolve("t.jsonl");
    try (TraceFile _ = TraceFile.open(name.toString())) {
      trace = TraceFile.device(name.toString(), "fake:card");
      UarPage page = page();
      assertThat(page.sendQueueAddress()).as("no doorbell bypasses the trace").isZero();
      page.ringSendQueue(Doorbell.sendQueue(0x12, 3, 0x28, 1, WqeOpcode.RDMA_READ));
      page.armCompletionQueue(Doorbell.armCompletionQueue(0x34, true));
      page.armEventQueue(Doorbell.armEventQueue(0x5, 77));
    }

    List<String> lines = Files.readAllLines(name);
    assertThat(lines).hasSize(5);
    assertThat(lines.get(2))
        .endsWith(
            "\"track\":\"QP 0x12\",\"title\":\"doorbell RDMA_READ\",\"qpn\":\"0x12\","
                + "\"opcode\":\"RDMA_READ\",\"wqe\":\"0x280\",\"wqe_bytes\":48,\"fence\":1}");
    assertThat(lines.get(3))
        .endsWith(
            "\"track\":\"CQ 0x34\",\"title\":\"arm\",\"cqn\":\"0x34\",\"for\":\"solicited\"}");
    assertThat(lines.get(4))
        .endsWith("\"track\":\"EQ 0x5\",\"title\":\"arm\",\"eqn\":\"0x5\",\"consumer_index\":77}");
  }
}

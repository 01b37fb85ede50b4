package org.hghca.model.rtl;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.hghca.abi.Bar;
import org.hghca.abi.DeviceLimits;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;
import org.hghca.model.ModelProvider;
import org.hghca.model.SoftwareHca;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.Locator;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The RTL's card in the mode in which a thread runs the simulation. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ThreadedCommandTest {
  private static final Locator LOCATOR = Locator.parse("model:threaded-rtl?profile=r1");

  @Test
  void commandsCompleteAndAHungOneOnlyAfterAReset() {
    try (PciFunction function = new ModelProvider().open(LOCATOR)) {
      MmioRegion registers = function.region(Bar.BAR0);
      DmaMapping outbox = function.allocate(4096);
      function.configuration().busMaster(true);
      for (int i = 0; i < 1000; i++) {
        start(registers, HcrCommand.QUERY_DEV_LIM, outbox.iova(0));
        awaitStatus(registers);
        assertThat(DeviceLimits.decode(outbox.segment()).maxQpsLog()).isEqualTo(14);
        outbox.segment().fill((byte) 0);
      }
      start(registers, HcrCommand.QUERY_QP, outbox.iova(0));
      SoftwareHca card = ModelProvider.hca(LOCATOR).orElseThrow();
      while (card.hazards().isEmpty()) {
        Thread.onSpinWait();
      }
      assertThat(Hcr.go(registers.readInt(Hcr.COMMAND))).isTrue();
      function.reset();
      function.configuration().busMaster(true);
      start(registers, HcrCommand.QUERY_DEV_LIM, outbox.iova(0));
      awaitStatus(registers);
      assertThat(card.hazards()).isEqualTo(List.of("2.3: QUERY_QP 0x0 never ends"));
      assertThat(card.counters().commands()).isEqualTo(1002);
    }
  }

  private static void start(MmioRegion registers, HcrCommand command, long out) {
    registers.writeInt(Hcr.OUT_PARAM_HIGH, (int) (out >>> 32));
    registers.writeInt(Hcr.OUT_PARAM_LOW, (int) out);
    registers.writeInt(Hcr.COMMAND, Hcr.command(command.code(), 0));
  }

  private static void awaitStatus(MmioRegion registers) {
    int dword = registers.readInt(Hcr.COMMAND);
    while (Hcr.go(dword)) {
      Thread.onSpinWait();
      dword = registers.readInt(Hcr.COMMAND);
    }
    assertThat(Hcr.status(dword)).isZero();
  }
}

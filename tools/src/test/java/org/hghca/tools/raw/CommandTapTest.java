package org.hghca.tools.raw;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.stream.Stream;
import org.hghca.abi.Bar;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;
import org.hghca.vfio.Locator;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunctions;
import org.junit.jupiter.api.Test;

/** A {@link TappedFunction} whose commands come from several threads, as those of a driver do. */
class CommandTapTest {
  private static final int COMMANDS = 500;

  @Test
  void commandsOfTwoThreadsDoNotMix() throws Exception {
    try (TappedFunction function =
        new TappedFunction(PciFunctions.open(Locator.parse("model:tapped")))) {
      function.configuration().enableMemorySpace();
      function.tap().hcrAt(Bar.HCR_DOCUMENT);
      function.tap().allowWholeBar();
      CyclicBarrier start = new CyclicBarrier(2);
      CompletableFuture.allOf(
              Stream.of(1, -1)
                  .map(sign -> CompletableFuture.runAsync(() -> give(function, sign, start)))
                  .toArray(CompletableFuture[]::new))
          .join();

      assertThat(function.commands())
          .hasSize(2 * COMMANDS)
          .allSatisfy(
              command -> {
                assertThat(command.ended()).isTrue();
                assertThat(command.inParam()).isEqualTo(command.inModifier());
                assertThat(command.outParam()).isEqualTo(command.inModifier());
              });
    }
  }

  @Test
  void commandThatIsLookedAtWhileItRunsIsRecordedToItsEnd() {
    try (TappedFunction function =
        new TappedFunction(PciFunctions.open(Locator.parse("model:tapped?fault=slow-commands")))) {
      function.configuration().enableMemorySpace();
      function.tap().hcrAt(Bar.HCR_DOCUMENT);
      function.tap().allowWholeBar();
      MmioRegion registers = function.region(Bar.BAR0);
      registers.writeInt(Bar.HCR_DOCUMENT + Hcr.COMMAND, Hcr.command(HcrCommand.NOP.code(), 0));

      assertThat(function.commands()).extracting(CommandRecord::ended).containsExactly(false);
      assertThat(function.commands()).isEmpty();

      int word = registers.readInt(Bar.HCR_DOCUMENT + Hcr.COMMAND);
      while (Hcr.go(word)) {
        Thread.onSpinWait();
        word = registers.readInt(Bar.HCR_DOCUMENT + Hcr.COMMAND);
      }

      assertThat(function.commands()).extracting(CommandRecord::ended).containsExactly(true);
    }
  }

  private static void give(TappedFunction function, int sign, CyclicBarrier start) {
    RawHcr hcr = new RawHcr(function, Bar.HCR_DOCUMENT, Duration.ofSeconds(10));
    try {
      start.await();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    for (int i = 1; i <= COMMANDS; i++) {
      int number = sign * i;
      hcr.give(Hcr.command(HcrCommand.NOP.code(), 0), number, number, number, 1);
    }
  }
}

package org.hghca.model.rtl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.hghca.abi.Bar;
import org.hghca.model.ModelProvider;
import org.hghca.model.SoftwareHca;
import org.hghca.vfio.Locator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The doorbell registers and the FIFO behind them. */
class DoorbellsTest {
  private final Bench bench = new Bench();

  @AfterEach
  void close() {
    bench.close();
  }

  private void fill(int count) {
    bench.card.holdDoorbells(true);
    for (int i = 0; i < count; i++) {
      bench.ringDoorbell(0x0000_0502_0000_000aL);
    }
  }

  @Test
  void sixtyFourDoorbellsWaitAndTheNextIsLost() {
    fill(64);
    assertThat(bench.card.hazards()).isEmpty();
    bench.ringDoorbell(0x0000_0302_0000_000aL);
    assertThat(bench.card.hazards())
        .containsExactly("1.4: doorbell 0x000003020000000a is lost: 64 are waiting already");
    assertThat(bench.card.faults()).contains(bench.card.hazards().getFirst().substring(5));
    assertThat(bench.card.counters().doorbells()).isEqualTo(65);
  }

  @Test
  void storeOfFourBytesRingsWithAnEmptyUpperHalf() {
    fill(64);
    bench.card.write(Bar.BAR2, 0x7ff000, 4, 0xa1a2_a3a4L);
    assertThat(bench.card.hazards())
        .containsExactly("1.4: doorbell 0x00000000a1a2a3a4 is lost: 64 are waiting already");
  }

  @ParameterizedTest
  @CsvSource({"0x4, 4", "0x8, 8", "0x0, 2", "0x10, 4", "0x10, 8", "0x20, 4", "0xff8, 8"})
  void otherStoresRingNoDoorbell(String offset, int width) {
    fill(64);
    bench.card.write(Bar.BAR2, 0x5000 + Integer.decode(offset), width, 1);
    assertThat(bench.card.hazards()).isEmpty();
    assertThat(bench.card.counters().doorbells()).isEqualTo(64);
  }

  @Test
  void resetEmptiesTheFifo() {
    fill(64);
    bench.card.reset();
    fill(64);
    assertThat(bench.card.hazards()).isEmpty();
  }

  @Test
  void documentsCardHasNoFifo() {
    try (SoftwareHca card = ModelProvider.plugIn(Locator.parse("model:s?mode=inline"))) {
      assertThatThrownBy(() -> card.holdDoorbells(true))
          .isInstanceOf(UnsupportedOperationException.class);
    }
  }
}

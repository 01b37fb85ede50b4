package org.hghca.vfio.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.lang.foreign.ValueLayout;
import java.util.concurrent.TimeUnit;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.Interrupts;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.VfioException.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The interrupts of a function of the kernel's VFIO, and those that end it. */
class KernelInterruptsTest extends KernelFunctionFixture {
  private static final long SOON = TimeUnit.SECONDS.toNanos(20);

  @Test
  void bestInterruptsAreUsedWithAllVectorsAtOnce() {
    try (PciFunction function = open("")) {
      Interrupts interrupts = function.interrupts();

      assertThat(interrupts.vectors()).isEqualTo(32);
      assertThat(card.signals[VfioAbi.MSIX_IRQ]).hasSize(32).doesNotHaveDuplicates();
      card.raise(VfioAbi.MSIX_IRQ, 31);
      card.raise(VfioAbi.MSIX_IRQ, 0);
      assertThat(interrupts.await(SOON)).isEqualTo(1L << 31 | 1);
      assertThat(interrupts.await(0)).isZero();
    }
    assertThat((Object[]) card.signals).containsOnlyNulls();
  }

  @Test
  void vectorsBeyondTheBitsOfAMaskAreNotUsed() {
    card.irqs[VfioAbi.MSIX_IRQ] = 2048;

    try (PciFunction function = open("")) {
      assertThat(function.interrupts().vectors()).isEqualTo(64);
      assertThat(card.signals[VfioAbi.MSIX_IRQ]).hasSize(64);
    }
  }

  @Test
  void vectorsAreLimitedToThoseLeftInTheSystem() {
    card.vectorsLeft = 3;

    try (PciFunction function = open("")) {
      assertThat(function.interrupts().vectors()).isEqualTo(3);
      assertThat(card.signals[VfioAbi.MSIX_IRQ]).hasSize(3);
    }
  }

  @Test
  void lineInterruptIsUsedLastAndUnmaskedAfterEachUse() {
    card.vectorsLeft = 0;

    try (PciFunction function = open("")) {
      Interrupts interrupts = function.interrupts();
      assertThat(interrupts.vectors()).isEqualTo(1);
      for (int i = 0; i < 3; i++) {
        card.raise(VfioAbi.INTX_IRQ, 0);
        assertThat(interrupts.await(SOON)).isEqualTo(1);
        assertThat(card.unmasked).isEqualTo(i);
        assertThat(interrupts.await(0)).isZero();
        assertThat(card.unmasked).isEqualTo(i + 1);
      }
    }
  }

  @Test
  void interruptsAreOfTheKindInTheLocator() {
    try (PciFunction function = open("interrupts=msi")) {
      assertThat(function.interrupts().vectors()).isEqualTo(8);
      assertThat(card.signals[VfioAbi.MSI_IRQ]).hasSize(8);
    }
    try (PciFunction function = open("interrupts=none")) {
      assertThat(function.interrupts().vectors()).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {VfioAbi.ERR_IRQ, VfioAbi.REQ_IRQ})
  void functionThatFailsOrIsRequestedBackIsReleasedAtOnce(int event) {
    try (PciFunction function = open("")) {
      MmioRegion registers = function.region(0);
      Interrupts interrupts = function.interrupts();
      DmaMapping ring = function.allocate(4096);
      function.configuration().busMaster(true);
      vfio.calls.clear();

      card.raise(event, 0);

      for (int i = 0; i < 2; i++) {
        assertReason(Reason.CLOSED, () -> interrupts.await(SOON)).hasMessageContaining(CARD);
      }
      assertThat(vfio.calls).contains("close Device").doesNotContain("close Container");
      assertThat(card.isBusMaster()).isFalse();
      assertThat(registers.readInt(0)).isEqualTo(-1);
      assertThat(function.region(2).readLong(0)).isEqualTo(-1);
      assertThat(function.configuration().vendorId()).isEqualTo(0xffff);
      function.configuration().busMaster(true);
      assertThatThrownBy(function::reset).hasMessageContaining(CARD);
      assertThatThrownBy(() -> function.allocate(1)).hasMessageContaining(CARD);
      // Ring memory that a driver still reads stays, and is freed as usual.
      assertThat(ring.segment().get(ValueLayout.JAVA_INT, 0)).isZero();
      ring.close();
    }
  }
}

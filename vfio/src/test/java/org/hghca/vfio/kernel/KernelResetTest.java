package org.hghca.vfio.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.util.List;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.VfioException.Reason;
import org.junit.jupiter.api.Test;

/** The reset of a function of the kernel's VFIO, alone or with its bus. */
class KernelResetTest extends KernelFunctionFixture {
  @Test
  void functionWithResetIsReset() {
    try (PciFunction function = open("")) {
      assertThat(function.canReset()).isTrue();
      function.reset();
      assertThat(card.resets).isEqualTo(1);
    }
  }

  @Test
  void refusedResetNamesItsCause() {
    card.resetAnswer = -11;

    try (PciFunction function = open("")) {
      assertReason(Reason.BUSY, function::reset)
          .hasMessageContainingAll(CARD, "was not reset", "EAGAIN", "try again");
    }
  }

  @Test
  void functionAloneOnItsBusIsResetWithTheBus() {
    card.flags = 2;
    card.together = List.of(new int[] {17, 3, 0});

    try (PciFunction function = open("")) {
      assertThat(function.canReset()).isTrue();
      function.reset();
      assertThat(card.resets).isEqualTo(1);
      assertThat(card.hotResetProofs).hasSize(1); // the descriptor of the group
    }
  }

  @Test
  void iommufdFunctionIsResetWithABusOwnedByThisProcess() {
    machine.iommufd(CARD);
    card.flags = 2;
    card.hotResetFlags = 3;
    card.together = List.of(new int[] {1, 3, 0}, new int[] {0, 3, 1});

    try (PciFunction function = open("")) {
      function.reset();
      assertThat(card.resets).isEqualTo(1);
      assertThat(card.hotResetProofs).isEmpty();
    }
    card.hotResetFlags = 1;
    try (PciFunction function = open("")) {
      assertThat(function.canReset()).isFalse();
    }
  }

  @Test
  void functionSharingItsBusWithAnotherOwnerCannotBeReset() {
    card.flags = 2;
    card.together = List.of(new int[] {17, 3, 0}, new int[] {18, 3, 8});

    try (PciFunction function = open("")) {
      assertThat(function.canReset()).isFalse();
      assertReason(Reason.UNSUPPORTED, function::reset);
    }
    assertThat(card.resets).isZero();
  }

  @Test
  void otherFunctionOfThisProcessIsNotReset() {
    FakeCard second = second(17);
    card.flags = 2;
    card.together = List.of(new int[] {17, 3, 0}, new int[] {17, 3, 1});

    try (PciFunction function = open("")) {
      try (PciFunction other = open(second.address, "")) {
        assertThatThrownBy(function::reset).hasMessageContaining(other.locator().name());
      }
      function.reset();
    }
    assertThat(card.resets).isEqualTo(1);
  }
}

package org.hghca.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunctions;
import org.junit.jupiter.api.Test;

/** Whatever step of bringing a card up fails: the card is given back and nothing stays mapped. */
class BringUpTest {
  private static final Locator LOCATOR = Locator.parse("model:bring-up?mode=inline");

  private static HghcaDevice bringUp(FailingFunction function) {
    return BringUp.of(function);
  }

  @Test
  void aFailingCommandLeavesNothingBehind() {
    int failed = 0;
    while (true) {
      FailingFunction function = new FailingFunction(PciFunctions.open(LOCATOR));
      function.failCommand(failed);
      HghcaDevice device;
      try {
        device = bringUp(function);
      } catch (VerbsException e) {
        assertThat(e.errno()).isEqualTo(Errno.EIO);
        assertThat(e).hasMessageContaining("cannot bring up model:bring-up");
        assertGivenBack(function);
        failed++;
        continue;
      }
      device.close();
      assertGivenBack(function);
      break;
    }
    // QUERY_DEV_LIM, QUERY_ADAPTER and INIT_HCA at the least.
    assertThat(failed).isGreaterThanOrEqualTo(3);
  }

  @Test
  void aFailingAllocationLeavesNothingBehind() {
    int failed = 0;
    while (true) {
      FailingFunction function = new FailingFunction(PciFunctions.open(LOCATOR));
      function.failAllocation(failed);
      HghcaDevice device;
      try {
        device = bringUp(function);
      } catch (VerbsException e) {
        assertThat(e.errno()).isEqualTo(Errno.ENOMEM);
        assertGivenBack(function);
        failed++;
        continue;
      }
      device.close();
      assertGivenBack(function);
      break;
    }
    assertThat(failed).isPositive();
  }

  @Test
  void anErrorOfThePlatformGivesTheCardBack() {
    FailingFunction function = new FailingFunction(PciFunctions.open(LOCATOR));
    function.onCommand(
        () -> {
          throw new StackOverflowError("stands for any error of the platform");
        });
    assertThatThrownBy(() -> bringUp(function)).isInstanceOf(StackOverflowError.class);
    assertThat(function.isClosed()).isTrue();
    assertThat(function.busMasterAtClose()).isFalse();
    // The mailbox of the command that never ended stays mapped until the function is closed.
    assertThat(function.mappingsAtClose()).isLessThanOrEqualTo(1);
  }

  private static void assertGivenBack(FailingFunction function) {
    assertThat(function.isClosed()).isTrue();
    assertThat(function.mappingsAtClose()).isZero();
    assertThat(function.busMasterAtClose()).isFalse();
  }

  @Test
  void aCardThatCannotBeResetIsGivenBackWithItsMemoryStillMapped() {
    FailingFunction function = new FailingFunction(PciFunctions.open(LOCATOR));
    HghcaDevice device = bringUp(function);
    device.registerQueue(4096, 1, 0);
    function.failReset();
    assertThatThrownBy(device::close).hasMessageContaining("the reset failed");
    assertThat(function.isClosed()).isTrue();
    assertThat(function.busMasterAtClose()).isFalse();
    // Its queue, and the tables that tell the card where the queue is.
    assertThat(function.mappingsAtClose()).isGreaterThan(1);
  }

  @Test
  void profilesOfTheRtlAreNotDrivenYet() {
    FailingFunction function =
        new FailingFunction(PciFunctions.open(LOCATOR), Locator.parse("model:x?profile=r2"));
    assertThatThrownBy(() -> bringUp(function))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EOPNOTSUPP))
        .hasMessageContaining("r2");
    assertThat(function.isClosed()).isTrue();
  }

  @Test
  void anUnknownProfileIsRefused() {
    FailingFunction function =
        new FailingFunction(PciFunctions.open(LOCATOR), Locator.parse("model:x?profile=z"));
    assertThatThrownBy(() -> bringUp(function))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL))
        .hasMessageContaining("z");
    assertThat(function.isClosed()).isTrue();
  }
}

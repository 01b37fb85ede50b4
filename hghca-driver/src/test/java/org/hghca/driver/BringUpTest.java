package org.hghca.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.hghca.abi.HardwareProfile;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunctions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

  @ParameterizedTest
  @ValueSource(strings = {"as=z", "hcr=no", "assumeClean=1"})
  void whatTheLocatorSaysWronglyIsRefusedBeforeTheCardIsTouched(String parameter) {
    FailingFunction function =
        new FailingFunction(PciFunctions.open(LOCATOR), Locator.parse("model:x?" + parameter));
    assertThatThrownBy(() -> bringUp(function))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL))
        .hasMessageContaining(parameter);
    assertThat(function.isClosed()).isTrue();
  }

  /** The software HCA's own choice is not the driver's: it finds out. */
  @Test
  void theProfileOfTheSoftwareHcaIsNotLookedAt() {
    FailingFunction function =
        new FailingFunction(PciFunctions.open(LOCATOR), Locator.parse("model:x?profile=r2"));
    HghcaDevice device = bringUp(function);
    assertThat(device.limits().profile()).isEqualTo(HardwareProfile.S);
    device.close();
  }
}

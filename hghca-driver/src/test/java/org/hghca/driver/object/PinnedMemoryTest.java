package org.hghca.driver.object;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.hghca.driver.PinnedMemory;
import org.hghca.driver.bringup.BringUp;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunctions;
import org.junit.jupiter.api.Test;

class PinnedMemoryTest {

  private static long mappedAtBringUp(String profile) {
    Locator locator = Locator.parse("model:pinned?mode=inline&profile=" + profile);
    FailingFunction function = new FailingFunction(PciFunctions.open(locator));
    HghcaDevice device = BringUp.of(function);
    long bytes = function.mappedBytes();
    device.close();
    return bytes;
  }

  @Test
  void figureIsThatOfTheProfileThatNeedsMost() {
    long most =
        Stream.of("s", "r1", "r2").mapToLong(PinnedMemoryTest::mappedAtBringUp).max().orElseThrow();

    assertThat(most).isBetween(PinnedMemory.AT_BRING_UP / 2, PinnedMemory.AT_BRING_UP);
  }
}

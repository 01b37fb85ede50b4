package org.hghca.tools.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Devices whose register accesses take hundreds of times as long as those of a card work the same.
 */
class SlowDeviceTest {

  @ParameterizedTest
  @ValueSource(strings = {"", "&events=poll", "&interrupts=none"})
  void everythingWorksAndNothingTimesOut(String parameters) {
    String locator = "slow:%s?cable=slow&access=PT0.0002S" + parameters;
    StringWriter steps = new StringWriter();
    new Demo(locator.formatted("left"), locator.formatted("right"), new PrintWriter(steps))
        .run(0, 4096);
    assertThat(steps.toString()).containsPattern("All \\d+ checks held: connect, send");
  }
}

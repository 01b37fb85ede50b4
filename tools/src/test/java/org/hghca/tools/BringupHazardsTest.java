package org.hghca.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Set;
import org.hghca.tools.bringup.Bringup;
import org.hghca.tools.bringup.BringupOptions;
import org.hghca.tools.bringup.BringupReport;
import org.hghca.tools.bringup.StepResult;
import org.hghca.tools.bringup.Verdict;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Steps of {@code hghca bringup} that stop a card, on slow cards, and when they are interrupted.
 */
@Timeout(300)
class BringupHazardsTest {

  private static BringupOptions only(String device, String step) {
    BringupOptions of = BringupOptions.of(device).withDestructive();
    return new BringupOptions(
        of.device(),
        of.profile(),
        of.loop(),
        of.peer(),
        of.destructive(),
        of.limit(),
        of.patience(),
        Duration.ofMillis(10),
        Set.of(step),
        of.skip());
  }

  private static StepResult result(BringupReport report, String step) {
    return report.results().stream()
        .filter(result -> result.step().id().equals(step))
        .findFirst()
        .orElseThrow();
  }

  private static StepResult run(String device, String step) {
    return result(new Bringup(only(device, step)).run(done -> {}), step);
  }

  /** In 50 ms a card in a logic simulator moves no message. */
  @Test
  void slowCardHasTheTimeToBeMeasured() {
    StepResult speed = run("model:board?slow=500", "speed");

    assertThat(speed.verdict()).as(speed.reason()).isEqualTo(Verdict.PASS);
    // Ten measurements of 0.5 s, those that warm up included.
    assertThat(speed.millis()).isGreaterThan(4_900);
  }
}

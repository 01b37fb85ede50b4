package org.hghca.tools.bringup.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.hghca.abi.HardwareProfile;
import org.hghca.model.ModelProvider;
import org.hghca.tools.bringup.Bringup;
import org.hghca.tools.bringup.BringupReport;
import org.hghca.tools.bringup.board.BringupOptions;
import org.hghca.tools.bringup.step.StepResult;
import org.hghca.tools.bringup.step.Verdict;
import org.hghca.vfio.Locator;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every step of {@code hghca bringup} as a separate test: on the device of the system property
 * {@code hghca.device}, else on a software HCA of each profile, which also runs the steps that stop
 * a card.
 */
class BringupStepsTest {
  private static final String DEVICE = System.getProperty("hghca.device", "");

  @TestFactory
  Stream<DynamicContainer> everyStep() {
    if (!DEVICE.isEmpty()) {
      String first = Locator.list(DEVICE).getFirst();
      return Stream.of(container(BringupOptions.of(first)));
    }
    return HardwareProfile.all().stream()
        .map(profile -> options("bringup", profile).destructive().done())
        .map(BringupStepsTest::container);
  }

  /** No step that runs by default triggers a hazard of the RTL. */
  @ParameterizedTest
  @ValueSource(strings = {"r1", "r2"})
  void defaultStepTriggersNoHazard(String profile) {
    BringupOptions options = options("careful", HardwareProfile.byName(profile)).done();
    String locator = options.device();
    List<String> hazards = new ArrayList<>();

    new Bringup(options)
        .run(
            result ->
                Stream.of(locator, locator + "&limit=PT4S")
                    .map(Locator::parse)
                    .flatMap(name -> ModelProvider.hca(name).stream())
                    .flatMap(hca -> hca.hazards().stream())
                    .map(hazard -> result.step().id() + ": " + hazard)
                    .forEach(hazards::add));

    assertThat(hazards).isEmpty();
  }

  /** On a software HCA. */
  private static SessionOptions options(String name, HardwareProfile profile) {
    return SessionOptions.of("model:%s?profile=%s".formatted(name, profile))
        .limit(Duration.ofSeconds(4))
        .measure(Duration.ofMillis(20));
  }

  /** A session and its cases, which are known once it has run. */
  private static DynamicContainer container(BringupOptions options) {
    Bringup session = new Bringup(options);
    BringupReport report = session.run(result -> {});
    List<DynamicTest> cases =
        report.results().stream()
            .map(result -> DynamicTest.dynamicTest(result.step().id(), () -> check(result)))
            .toList();
    return DynamicContainer.dynamicContainer(options.device(), cases);
  }

  private static void check(StepResult result) {
    if (result.verdict() == Verdict.SKIP || !DEVICE.isEmpty() && !result.verdict().isResult()) {
      abort(result.reason());
    }
    assertThat(result.verdict())
        .as(
            "%s: %s%nexpected %s%nseen %s",
            result.step().title(), result.reason(), result.expected(), result.seen())
        .isIn(Verdict.PASS, Verdict.WARN);
  }
}

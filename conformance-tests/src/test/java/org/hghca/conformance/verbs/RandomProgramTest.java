package org.hghca.conformance.verbs;

import java.util.Optional;
import java.util.function.Supplier;
import org.hghca.conformance.profile.OnlyOn;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.verbs.RandomProgram.Step;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random programs of verbs against the reference. A failure names the seed, and the shortest prefix
 * of the program that fails as well.
 */
class RandomProgramTest {
  private static final int STEPS = 1500;

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
  void dataAndCompletionsMatchTheReference(long seed) {
    check(RandomProgram.of(seed, STEPS), Fabric::open);
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {101, 102, 103, 104})
  void theyMatchInTheThreadedSimulation(long seed) {
    check(RandomProgram.of(seed, STEPS / 3), Fabric::threaded);
  }

  @Tag("loop")
  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {201, 202, 203, 204})
  void theyMatchBetweenTwoContextsOfOneDevice(long seed) {
    check(RandomProgram.of(seed, STEPS), Fabric::oneDevice);
  }

  @ParameterizedTest(name = "seed {0}")
  @OnlyOn(
      value = {"s", "virtio"},
      why = "the packets of the RTL are not RoCE's")
  @ValueSource(longs = {301, 302})
  void theyMatchOverANetwork(long seed) {
    TestProfile.requireModel();
    check(
        RandomProgram.of(seed, STEPS / 6),
        () ->
            Fabric.on(
                TestProfile.model("model:random-left?net=udp:127.0.6.91"),
                TestProfile.model("model:random-right?net=udp:127.0.6.92")));
  }

  private static void check(RandomProgram program, Supplier<Fabric> fabric) {
    Failure shortest = run(program, fabric).orElse(null);
    if (shortest == null) {
      return;
    }
    int passes = 0;
    while (shortest.steps() - passes > 1) {
      int middle = (passes + shortest.steps()) / 2;
      Optional<Failure> shorter = run(program.prefix(middle), fabric);
      if (shorter.isPresent()) {
        shortest = shorter.get();
      } else {
        passes = middle;
      }
    }
    throw new AssertionError(
        "seed %d fails within %d steps, the last of them %s"
            .formatted(
                program.seed(),
                shortest.steps(),
                shortest.steps() == 0 ? "the set-up" : program.steps().get(shortest.steps() - 1)),
        shortest.cause());
  }

  /** Reports that a program failed, and after how many steps. */
  private record Failure(int steps, Throwable cause) {}

  private static Optional<Failure> run(RandomProgram program, Supplier<Fabric> fabric) {
    int reached = 0;
    try (ProgramRun run = new ProgramRun(fabric.get(), program.seed())) {
      for (Step step : program.steps()) {
        reached++;
        run.run(step);
      }
      run.finish();
      return Optional.empty();
    } catch (RuntimeException | AssertionError e) {
      return Optional.of(new Failure(reached, e));
    }
  }
}

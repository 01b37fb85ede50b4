package org.hghca.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.Collection;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** Each benchmark runs, with each of its parameters; timing is not checked. */
@Tag("long")
class BenchmarksTest {
  @Test
  void eachBenchmarkRuns() throws RunnerException {
    Options options =
        new OptionsBuilder()
            .include("org\\.hghca\\..*")
            .forks(0)
            .warmupIterations(0)
            .measurementIterations(1)
            .measurementTime(TimeValue.milliseconds(1))
            .shouldFailOnError(true)
            .verbosity(VerboseMode.SILENT)
            .build();

    Collection<RunResult> results = new Runner(options).run();

    assertFalse(results.isEmpty());
    results.forEach(
        result -> assertEquals(1, result.getAggregatedResult().getIterationResults().size()));
  }
}

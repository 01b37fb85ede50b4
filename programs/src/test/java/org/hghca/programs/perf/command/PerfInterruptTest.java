package org.hghca.programs.perf.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Locale;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.PerfTest;
import org.hghca.programs.perf.run.Progress;
import org.hghca.programs.perf.run.Watcher;
import org.hghca.programs.perf.session.BothSides;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An interrupt, which is Ctrl-C, gives the figures so far, of every kind of measurement. */
class PerfInterruptTest {
  /** More than one completion of the messages that share one. */
  private static final long ENOUGH = 250;

  private static Parameters parameters(String command) {
    String[] words = command.split(" ");
    return PerfTestCommand.parameters(
        PerfTest.valueOf(words[0].toUpperCase(Locale.ROOT)),
        Arrays.copyOfRange(words, 1, words.length));
  }

  /** Interrupts a thread once enough messages have been moved. */
  private static Watcher interrupter(Thread measured) {
    return new Watcher() {
      @Override
      public void begins(Progress progress) {
        Thread _ =
            Thread.ofPlatform()
                .start(
                    () -> {
                      while (progress.messages() < ENOUGH) {
                        Thread.yield();
                      }
                      measured.interrupt();
                    });
      }

      @Override
      public void ends() {
        // The figures follow.
      }
    };
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ib_write_bw -n 10000000 -s 64",
        "ib_write_bw -D 1000 -f 0 -s 64",
        "ib_send_bw -n 10000000 -s 64 -N",
        "ib_read_bw -D 1000 -f 0 -s 64",
        "ib_send_bw -a -n 10000000 -N",
        "ib_send_lat -n 1000000",
        "ib_write_lat -n 1000000",
        "ib_read_lat -a -n 1000000",
        "ib_send_lat -D 1000 -f 0",
        "ib_atomic_lat -D 1000 -f 0"
      })
  void givesTheFiguresSoFar(String command) {
    Parameters parameters = parameters(command);
    try (BothSides sides =
        BothSides.open("model:a?cable=ctrl-c", "model:b?cable=ctrl-c", parameters.route())) {
      BothSides.Outcome outcome = sides.run(parameters, interrupter(Thread.currentThread()));
      assertThat(outcome.whole()).isFalse();
      assertThat(outcome.figures())
          .hasSize(1)
          .allSatisfy(figure -> assertThat(figure.iterations()).isGreaterThan(ENOUGH / 2));
      assertThat(outcome.document().toJson().toString()).contains("n_iterations=");
      assertThat(Thread.interrupted()).isFalse();
    }
  }
}

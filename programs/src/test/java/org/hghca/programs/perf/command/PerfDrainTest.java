package org.hghca.programs.perf.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Locale;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.PerfTest;
import org.hghca.programs.perf.run.Watcher;
import org.hghca.programs.perf.session.BothSides;
import org.hghca.verbs.Counters;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A measurement by time ends with nothing in flight. */
class PerfDrainTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "ib_write_bw -D 1 -f 0 -s 65536 -Q 1",
        "ib_write_bw -D 1 -f 0 -s 64 -Q 5",
        "ib_read_bw -D 1 -f 0 -s 65536 -Q 1",
        "ib_send_bw -D 1 -f 0 -s 64 -Q 4 -q 3",
        "ib_write_bw -D 1 -f 0 -s 64 -l 8 -Q 8"
      })
  void everyMessageHasCompleted(String command) {
    String[] words = command.split(" ");
    Parameters parameters =
        PerfTestCommand.parameters(
            PerfTest.valueOf(words[0].toUpperCase(Locale.ROOT)),
            Arrays.copyOfRange(words, 1, words.length));
    try (BothSides sides =
        BothSides.open("model:a?cable=drain", "model:b?cable=drain", parameters.route())) {
      assertThat(sides.run(parameters, Watcher.none()).whole()).isTrue();
      Counters counters = sides.client().context().counters();
      assertThat(counters.sendsPosted()).isPositive();
      assertThat(counters.completions()).isEqualTo(counters.sendsPosted());
    }
  }
}

package org.hghca.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the launcher says of wrong command lines and missing devices. */
class MainTest {
  private static final int LINES = 150;

  @Test
  void withoutWordsItListsTheExamples() {
    assertThat(Outcome.of().assertSuccess().said()).contains("rc", "SEND, RDMA READ");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "nothing",
        "rc client",
        "rc -d",
        "rc -p x",
        "rc -p 65536",
        "rc -x",
        "rpc -c",
        "rpc -c udp",
        "rc -b localhost",
        "rc server -d model:a -d model:b",
        "rc -d model:a -d model:b -d model:c"
      })
  void wrongUsageIsExitCode2(String words) {
    Outcome outcome = Outcome.of(words.split(" "));
    assertThat(outcome.exitCode()).isEqualTo(2);
    assertThat(outcome.complained()).startsWith("examples: ").contains("examples/run NAME");
  }

  @Test
  void missingDeviceIsExitCode3() {
    Outcome outcome = Outcome.of("rc", "-d", "nosuch");
    assertThat(outcome.exitCode()).isEqualTo(3);
    assertThat(outcome.complained()).startsWith("rc: ").contains("nosuch");
  }

  @Test
  void failedEndIsExitCode1AndTheOtherEndStops() {
    Outcome outcome = Outcome.of("rc", "-d", "model:a?cable=one", "-d", "model:b?cable=other");
    assertThat(outcome.exitCode()).as(outcome.said()).isEqualTo(1);
    assertThat(outcome.complained()).startsWith("rc: ").hasLineCount(1);
  }

  @Test
  void everyExampleIsShort() throws IOException {
    try (var files = Files.list(Path.of("src/main/java/org/hghca/examples"))) {
      assertThat(files.filter(file -> lines(file) > LINES)).isEmpty();
    }
  }

  /** Without imports and blank lines. */
  private static long lines(Path file) {
    try (var lines = Files.lines(file)) {
      return lines.filter(line -> !line.isBlank() && !line.startsWith("import ")).count();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}

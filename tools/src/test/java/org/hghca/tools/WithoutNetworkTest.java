package org.hghca.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What needs no network works on a machine that has none, not even the loopback interface: in a
 * network namespace in which nothing is up.
 */
@Execution(ExecutionMode.CONCURRENT) // it waits for processes of its own
class WithoutNetworkTest {
  private static final List<String> NAMESPACE = List.of("unshare", "-rn");

  private record Run(int code, String printed) {}

  private static Run run(List<String> command) throws IOException, InterruptedException {
    List<String> inside = new ArrayList<>(NAMESPACE);
    inside.addAll(command);
    Process process = new ProcessBuilder(inside).redirectErrorStream(true).start();
    try {
      String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return new Run(process.waitFor(), printed);
    } finally {
      process.destroyForcibly();
    }
  }

  private static boolean allowsNamespaces() throws InterruptedException {
    try {
      return run(List.of("true")).code() == 0;
    } catch (IOException _) {
      return false; // there is no such program
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "demo --seconds 0",
        "perf suite ib_send_lat -s 8 -D 0.1",
        "bringup -d model: --only speed --seconds 0.1"
      })
  void commandOfOneProcessRuns(String words) throws Exception {
    assumeThat(allowsNamespaces()).as("this machine allows 'unshare -rn'").isTrue();
    Run run = run(OwnProgram.command(words.split(" ")));
    assertThat(run.code()).as(run.printed()).isZero();
  }
}

package org.hghca.tools.perf.peers;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The two JVMs of a row when one of them, or the process that has started them, is gone. */
class RowMainTest {
  private static final long SECONDS = 60;
  private static final Row ROW =
      Table.MESSAGES.rows().stream()
          .filter(row -> row.carrier() == Carrier.TCP)
          .findFirst()
          .orElseThrow();

  private Process first;

  private ProcessHandle start() throws Exception {
    List<String> command =
        SecondJvm.command(
            List.of(), RowMain.class, RowMain.measuring(ROW, Duration.ofSeconds(SECONDS)));
    first = new ProcessBuilder(command).redirectErrorStream(true).start();
    while (first.children().findAny().isEmpty()) {
      assertThat(first.waitFor(10, TimeUnit.MILLISECONDS)).as("it has ended").isFalse();
    }
    return first.children().findAny().orElseThrow();
  }

  @AfterEach
  void end() {
    first.destroyForcibly();
  }

  @Test
  void bothEndWhenStandardInputOfTheFirstDoes() throws Exception {
    ProcessHandle second = start();
    first.getOutputStream().close();
    assertThat(first.waitFor(SECONDS, TimeUnit.SECONDS)).isTrue();
    assertThat(first.exitValue()).isEqualTo(1);
    second.onExit().get(SECONDS, TimeUnit.SECONDS);
  }

  @Test
  void rowFailsWhenItsSecondJvmEnds() throws Exception {
    assertThat(start().destroyForcibly()).isTrue();
    String said = new String(first.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    PeerRow row = PeerRow.of(JSON.std.mapFrom(said));
    assertThat(row).isInstanceOf(PeerRow.Unmeasured.class);
    assertThat(((PeerRow.Unmeasured) row).failed()).isTrue();
    assertThat(((PeerRow.Unmeasured) row).why()).isNotBlank();
  }
}

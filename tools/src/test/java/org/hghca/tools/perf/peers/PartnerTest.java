package org.hghca.tools.perf.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.hghca.programs.peer.PeerException;
import org.junit.jupiter.api.Test;

/** Second processes that are not what they should be. */
class PartnerTest {
  private static Partner partner(String... command) throws Exception {
    return Partner.inProcess(List.of(command));
  }

  @Test
  void processThatEndsIsAnError() throws Exception {
    try (Partner partner = partner("true")) {
      assertThatThrownBy(partner::await)
          .isInstanceOf(PeerException.class)
          .hasMessage(
              "the second JVM ended the conversation after 0 of the 1 bytes of its first byte");
    }
  }

  @Test
  void processThatDoesNotAnswerIsAnErrorAndIsEnded() throws Exception {
    try (Partner partner = partner("sh", "-c", "echo; exec sleep 1000")) {
      partner.await();
      partner.medium().limit(Duration.ofMillis(1));
      partner.begin(new Task(Task.Kind.ROUND_TRIPS, 8, 1));
      assertThatThrownBy(() -> partner.medium().read("its report", 16))
          .isInstanceOf(PeerException.class)
          .hasMessage("the second JVM sent 0 of the 16 bytes of its report in 1 ms");
    }
    assertThat(ProcessHandle.current().children().filter(PartnerTest::sleeps)).isEmpty();
  }

  private static boolean sleeps(ProcessHandle process) {
    return process.info().command().filter(command -> command.endsWith("sleep")).isPresent();
  }
}

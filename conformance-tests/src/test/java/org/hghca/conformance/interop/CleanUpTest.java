package org.hghca.conformance.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A test that runs into its time-out ends what it has started, so that no other one fails too. */
@WithSoftRoce
@DisplayName("after a test")
class CleanUpTest {
  private static final String GUESTS_SERVER = "udaddy -b 10.99.0.11";

  @ParameterizedTest(name = "hghca {0} has ended, and its device is closed")
  @CsvSource({
    "udaddy -b 10.99.0.1 -c 3, starting server",
    "rdma-server -s 10.99.0.1, start",
    "ud_pingpong -p 18516, local address",
    "perf ib_send_lat -p 18516, Waiting for client"
  })
  void ourProgramsEnd(String command, String begins, GuestVerbs guest) {
    OurProgram program;
    try (Bench bench = Bench.open(Card.HCA, guest, "")) {
      program = bench.start(command);
      program.awaitOutput(begins);
    }
    assertThat(program.hasEnded()).isTrue();
    try (Bench next = Bench.open(Card.HCA, guest, "")) {
      assertThat(next.hca().counters().completions()).as(next.counts()).isZero();
    }
  }

  @Test
  @DisplayName("the guest's programs have ended")
  void guestsProgramsEnd(GuestVerbs guest) {
    var _ = GuestProgram.listening(guest, "server", GUESTS_SERVER);
    assertThat(running(guest)).hasSize(1);
    guest.endPrograms();
    assertThat(running(guest)).isEmpty();
  }

  private static List<String> running(GuestVerbs guest) {
    return guest.ask("run", "command", "pgrep -x udaddy").get("output").lines().toList();
  }
}

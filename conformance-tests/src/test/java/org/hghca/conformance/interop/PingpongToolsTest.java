package org.hghca.conformance.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.hghca.conformance.interop.GuestProgram.End;
import org.hghca.conformance.interop.Pingpongs.Ends;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The ping-pongs of libibverbs: their defaults, and what they print when they fail. */
@WithSoftRoce
@DisplayName("unmodified, with the tool of that name:")
class PingpongToolsTest {
  private Bench bench;
  private Pingpongs pingpongs;

  @BeforeEach
  void take(Bench itsBench) {
    bench = itsBench;
    pingpongs = new Pingpongs(bench);
  }

  @ParameterizedTest(
      name = "ibv_{0}_pingpong, 1000 messages by default",
      quoteTextArguments = false)
  @CsvSource({"rc, 4096, true", "uc, 4096, false", "ud, 1024, true", "srq, 4096, false"})
  void defaults(String kind, int size, boolean weServe) throws IOException {
    Ends ends = weServe ? pingpongs.weServe(kind, "", "") : pingpongs.guestServes(kind, "", "");
    Pingpongs.assertPlayed(ends, kind, size, 1000);
  }

  @Test
  @DisplayName("ibv_rc_pingpong -c as server, whose client marks no page, both ways")
  void serverNamesThePagesThatItsClientDidNotMark() throws IOException {
    String options = " -n 10 -s 8193";
    String pages = "invalid data in page 0\ninvalid data in page 1\ninvalid data in page 2\n";
    Ends ends = pingpongs.weServe("rc", options + " -c", options);
    assertThat(ends.ours()).isZero();
    assertThat(ends.ourOutput()).endsWith("usec/iter\n" + pages);
    Ends other = pingpongs.guestServes("rc", options, options + " -c");
    assertThat(other.guest().with(0).output()).endsWith("usec/iter\n" + pages);
    assertThat(Pingpongs.shape(other.guest().output()))
        .isEqualTo(Pingpongs.shape(ends.ourOutput()));
  }

  @Test
  @DisplayName("ibv_rc_pingpong as client, whose message is longer than our receive")
  void longerMessageFailsBothEnds() throws IOException {
    Ends ends = pingpongs.weServe("rc", " -s 100", " -s 200");
    assertThat(ends.guest().with(1).output())
        .contains("Failed status remote invalid request error (9) for wr_id 2\nparse WC failed ");
    assertThat(ends.ours()).isEqualTo(1);
    assertThat(ends.ourOutput())
        .contains("Failed status local length error (1) for wr_id 1\nparse WC failed ");
  }

  /** The first of its lines, and its exit code, are those of the original. */
  @ParameterizedTest(
      name = "ibv_{0} ends with the same line, and exit code 1",
      quoteTextArguments = false)
  @ValueSource(
      strings = {
        "rc_pingpong -g 5000",
        "uc_pingpong -g 5000",
        "ud_pingpong -g 5000",
        "srq_pingpong -g 5000",
        "rc_pingpong -i 2",
        "ud_pingpong -i 2",
        "srq_pingpong -i 2",
        "rc_pingpong -r 1000000",
        "ud_pingpong -s 4097",
        "srq_pingpong -q 256",
        "srq_pingpong -q 17 -r 16",
        "rc_pingpong 127.0.0.1 -p 9"
      })
  void refusalsAreThoseOfTheOriginal(String command) {
    End guest =
        GuestProgram.start(bench.guest(), "refused", "ibv_" + command + " -d rxe0").await().with(1);
    OurProgram ours = bench.start(command);
    assertThat(withoutAddress(ours.await(1))).isEqualTo(withoutAddress(guest.output()));
  }

  /** The first line that is not an address. */
  private static String withoutAddress(String output) {
    return output.lines().filter(line -> !line.startsWith("  ")).findFirst().orElse("");
  }

  @ParameterizedTest(name = "ibv_{0}: wrong usage is exit code 1", quoteTextArguments = false)
  @ValueSource(
      strings = {
        "rc_pingpong -x",
        "rc_pingpong -m 1000",
        "uc_pingpong -p 65536",
        "ud_pingpong -i 0",
        "srq_pingpong -s 0",
        "rc_pingpong a b"
      })
  void wrongUsageEndsAsTheOriginal(String command) {
    GuestProgram.start(bench.guest(), "refused", "ibv_" + command).await().with(1);
    bench.start(command).await(1);
  }
}

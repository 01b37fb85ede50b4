package org.hghca.conformance.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ServerSocket;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.hghca.conformance.interop.GuestProgram.End;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The ping-pongs of libibverbs: at one end as Debian has them, at the other end ours. Messages have
 * at most 64 packets, as in {@link PingpongTest}.
 */
@WithSoftRoce
@DisplayName("unmodified, with the tool of that name:")
class PingpongToolsTest {
  /** The host's address in QEMU's user network. */
  private static final String HOST = "10.0.2.2";

  private static final int GUESTS_PORT = 18515;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static final Pattern LOCAL =
      Pattern.compile("(?m)^  local address:  (LID 0x0000, QPN .*, PSN 0x.{6})[,:] (GID .*)$");
  private static final Pattern REMOTE =
      Pattern.compile("(?m)^  remote address: (LID 0x0000, QPN .*, PSN 0x.{6}), (GID .*)$");

  private Bench bench;

  @BeforeEach
  void take(Bench itsBench) {
    bench = itsBench;
  }

  private OurProgram ours(String kind, String options, int port, String host) {
    return bench.start(
        "%s_pingpong -g %d -p %d%s%s".formatted(kind, bench.ownGidIndex(), port, options, host));
  }

  private GuestProgram guest(String kind, String options, int port, String host) {
    String command =
        "ibv_%s_pingpong -d rxe0 -g %d -p %d%s%s"
            .formatted(kind, bench.gidIndex(), port, options, host);
    return GuestProgram.start(bench.guest(), host.isEmpty() ? "server" : "client", command);
  }

  /** What both ends have printed, and how they ended. */
  private record Ends(int ours, String ourOutput, End guest) {}

  private Ends weServe(String kind, String ourOptions, String guestOptions) throws IOException {
    int port = freePort();
    OurProgram server = ours(kind, ourOptions, port, "");
    server.awaitOutput("local address");
    Instant end = Instant.now().plus(PATIENCE);
    End client;
    do { // it does not say when it listens
      client = guest(kind, guestOptions, port, " " + HOST).await();
    } while (client.output().contains("Couldn't connect to ") && Instant.now().isBefore(end));
    return new Ends(server.await(), server.output(), client);
  }

  private Ends guestServes(String kind, String ourOptions, String guestOptions) {
    GuestProgram server = guest(kind, guestOptions, GUESTS_PORT, "");
    int port = Integer.getInteger("hghca.lab.rxe.tcp");
    Instant end = Instant.now().plus(PATIENCE);
    OurProgram client;
    int status;
    do { // until the program listens, QEMU accepts connections and ends them
      client = ours(kind, ourOptions, port, " 127.0.0.1");
      status = client.await();
    } while (client.output().contains("Couldn't read/write remote address")
        && Instant.now().isBefore(end));
    return new Ends(status, client.output(), server.await());
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  /** Each end prints the addresses that the other one has, and what was moved. */
  private static void assertPlayed(Ends ends, String kind, int size, int messages) {
    ends.guest().with(0);
    assertThat(ends.ours()).as(ends.ourOutput()).isZero();
    String guests = ends.guest().output();
    assertThat(addresses(LOCAL, ends.ourOutput()))
        .isEqualTo(addresses(REMOTE, guests))
        .hasSize(kind.equals("srq") ? 16 : 1);
    assertThat(addresses(REMOTE, ends.ourOutput())).isEqualTo(addresses(LOCAL, guests));
    for (String output : List.of(ends.ourOutput(), guests)) {
      assertThat(output)
          .containsPattern(
              """
              GID ::ffff:10\\.99\\.0\\.(1|11)
              %d bytes in \\d+\\.\\d\\d seconds = \\d+\\.\\d\\d Mbit/sec
              %d iters in \\d+\\.\\d\\d seconds = \\d+\\.\\d\\d usec/iter
              \\z\
              """
                  .formatted(2L * size * messages, messages));
    }
    assertThat(shape(ends.ourOutput())).isEqualTo(shape(guests));
  }

  private static List<String> addresses(Pattern pattern, String output) {
    return pattern.matcher(output).results().map(one -> one.group(1) + one.group(2)).toList();
  }

  /** The output without its values: all of what is the same at both ends. */
  private static String shape(String output) {
    return Pattern.compile("10\\.99\\.0\\.[0-9]+|0x[0-9a-f]{6}|[0-9]+\\.[0-9]{2}")
        .matcher(output)
        .replaceAll(Matcher.quoteReplacement("#"));
  }

  @ParameterizedTest(name = "ibv_{0}_pingpong as client, {1} bytes{2}", quoteTextArguments = false)
  @PingpongOptions
  void guestIsClient(String kind, int size, String more) throws IOException {
    String options = " -n 100 -s " + size + more;
    assertPlayed(weServe(kind, options, options), kind, size, 100);
  }

  @ParameterizedTest(name = "ibv_{0}_pingpong as server, {1} bytes{2}", quoteTextArguments = false)
  @PingpongOptions
  void guestServes(String kind, int size, String more) {
    String options = " -n 100 -s " + size + more;
    assertPlayed(guestServes(kind, options, options), kind, size, 100);
  }

  @ParameterizedTest(
      name = "ibv_{0}_pingpong, 1000 messages by default, both ways",
      quoteTextArguments = false)
  @CsvSource({"rc, 4096", "uc, 4096", "ud, 1024", "srq, 4096"})
  void defaults(String kind, int size) throws IOException {
    assertPlayed(weServe(kind, "", ""), kind, size, 1000);
    assertPlayed(guestServes(kind, "", ""), kind, size, 1000);
  }

  @Test
  @DisplayName("ibv_rc_pingpong -c as server, whose client marks no page, both ways")
  void serverNamesThePagesThatItsClientDidNotMark() throws IOException {
    String options = " -n 10 -s 8193";
    String pages = "invalid data in page 0\ninvalid data in page 1\ninvalid data in page 2\n";
    Ends ends = weServe("rc", options + " -c", options);
    assertThat(ends.ours()).isZero();
    assertThat(ends.ourOutput()).endsWith("usec/iter\n" + pages);
    Ends other = guestServes("rc", options, options + " -c");
    assertThat(other.guest().with(0).output()).endsWith("usec/iter\n" + pages);
    assertThat(shape(other.guest().output())).isEqualTo(shape(ends.ourOutput()));
  }

  @Test
  @DisplayName("ibv_rc_pingpong as client, whose message is longer than our receive")
  void longerMessageFailsBothEnds() throws IOException {
    Ends ends = weServe("rc", " -s 100", " -s 200");
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

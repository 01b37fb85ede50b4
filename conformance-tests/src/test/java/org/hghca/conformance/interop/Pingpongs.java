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

/**
 * The ping-pongs of libibverbs: at one end as Debian has them, at the other end ours.
 *
 * @param bench with our end
 */
record Pingpongs(Bench bench) {
  /** The host's address in QEMU's user network. */
  private static final String HOST = "10.0.2.2";

  private static final int GUESTS_PORT = 18515;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static final Pattern LOCAL =
      Pattern.compile("(?m)^  local address:  (LID 0x0000, QPN .*, PSN 0x.{6})[,:] (GID .*)$");
  private static final Pattern REMOTE =
      Pattern.compile("(?m)^  remote address: (LID 0x0000, QPN .*, PSN 0x.{6}), (GID .*)$");

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
  record Ends(int ours, String ourOutput, End guest) {}

  Ends weServe(String kind, String ourOptions, String guestOptions) throws IOException {
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

  Ends guestServes(String kind, String ourOptions, String guestOptions) {
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
  static void assertPlayed(Ends ends, String kind, int size, int messages) {
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
  static String shape(String output) {
    return Pattern.compile("10\\.99\\.0\\.[0-9]+|0x[0-9a-f]{6}|[0-9]+\\.[0-9]{2}")
        .matcher(output)
        .replaceAll(Matcher.quoteReplacement("#"));
  }
}

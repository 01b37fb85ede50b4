package org.hghca.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The programs of librdmacm, each with itself, on two software HCAs on the loopback interface. The
 * lines are those that the originals of rdma-core 56.1 print.
 */
@Timeout(120)
class RdmacmCommandsTest {
  private static final String SERVER = "127.0.5.51";
  private static final String CLIENT = "127.0.5.52";
  private static final Pattern REFUSED =
      Pattern.compile("REJECTED, error:? 8|UNREACHABLE, error:|Connection refused");
  private static final String GROUP = "239.1.2.3";

  private final List<RunningCommand> started = new ArrayList<>();

  private RunningCommand start(String address, String command) {
    RunningCommand running =
        RunningCommand.start("%s -d model:%s?net=udp:%s".formatted(command, address, address));
    started.add(running);
    return running;
  }

  /** Runs a client, again while its server does not listen yet: servers print no such thing. */
  private CommandLineRun client(String command) throws Exception {
    Instant end = Instant.now().plusSeconds(60);
    while (true) {
      CommandLineRun run = start(CLIENT, command).await();
      if (!REFUSED.matcher(run.out() + run.err()).find() || Instant.now().isAfter(end)) {
        return run;
      }
    }
  }

  @AfterEach
  void end() {
    started.forEach(RunningCommand::close);
  }

  /** It would take the next option for the name of a device. */
  @Test
  void debugOptionOfTheOriginalsRpingIsRefusedAndOursNamed() {
    CommandLineRun run = CommandLineRun.of("rping", "-c", "-d", "-a", SERVER);
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err())
        .startsWith("Expected parameter for option '--ib-dev' but found '-a'")
        .containsPattern("-d names\\s+the\\s+device;\\s+use\\s+--debug");
  }

  @Test
  void rping() throws Exception {
    RunningCommand server = start(SERVER, "rping -s -v -a " + SERVER);
    CommandLineRun client = client("rping -c -v -V -C 2 -a " + SERVER);
    assertThat(client)
        .isEqualTo(
            new CommandLineRun(
                0,
                """
                ping data: rdma-ping-0: ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqr
                ping data: rdma-ping-1: BCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrs
                """,
                "client DISCONNECT EVENT...\n"));
    assertThat(server.await())
        .isEqualTo(
            new CommandLineRun(
                0,
                """
                server ping data: rdma-ping-0: ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqr
                server ping data: rdma-ping-1: BCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrs
                """,
                "server DISCONNECT EVENT...\nwait for RDMA_READ_ADV state 10\n"));
  }

  @Test
  void persistentServerOfRpingServesManyUntilItIsInterrupted() throws Exception {
    RunningCommand server = start(SERVER, "rping -s -P -a " + SERVER);
    for (int i = 0; i < 3; i++) {
      assertThat(client("rping -c -V -C 10 -a " + SERVER).exitCode()).isZero();
    }
    server.interrupt();
    assertThat(server.await().exitCode()).isEqualTo(ExitCode.INTERRUPTED.code());
  }

  @Test
  void rpingWithoutServerIsRejected() throws Exception {
    CommandLineRun client = start(CLIENT, "rping -c -a 127.0.5.52").await();
    assertThat(client.exitCode()).isEqualTo(ExitCode.FAILED.code());
    assertThat(client.err())
        .isEqualTo("cma event RDMA_CM_EVENT_REJECTED, error 8\nwait for CONNECTED state 4\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " -c 3", " -m", " -t 32 -a 14"})
  void ucmatose(String options) throws Exception {
    RunningCommand server = start(SERVER, "ucmatose -b " + SERVER + options);
    CommandLineRun client = client("ucmatose -s " + SERVER + options);
    String migrating = options.contains("-m") ? "migrating to new event channel\n" : "";
    assertThat(client)
        .isEqualTo(
            new CommandLineRun(
                0,
                """
                cmatose: starting client
                cmatose: connecting
                receiving data transfers
                sending replies
                data transfers complete
                %stest complete
                return status 0
                """
                    .formatted(migrating),
                ""));
    assertThat(server.await())
        .isEqualTo(
            new CommandLineRun(
                0,
                """
                cmatose: starting server
                initiating data transfers
                completing sends
                receiving data transfers
                data transfers complete
                %scmatose: disconnecting
                disconnected
                test complete
                return status 0
                """
                    .formatted(migrating),
                ""));
  }

  @Test
  void ucmatoseWithoutServerPrintsTheReason() throws Exception {
    assertThat(start(CLIENT, "ucmatose -s 127.0.5.52").await())
        .isEqualTo(
            new CommandLineRun(
                1,
                """
                cmatose: starting client
                cmatose: connecting
                cmatose: event: RDMA_CM_EVENT_REJECTED, error: 8
                test complete
                return status 8
                """,
                ""));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " -c 3 -S 1024"})
  void udaddy(String options) throws Exception {
    RunningCommand server = start(SERVER, "udaddy -b " + SERVER + options);
    CommandLineRun client = client("udaddy -s " + SERVER + options);
    assertThat(client)
        .isEqualTo(
            new CommandLineRun(
                0,
                """
                udaddy: starting client
                udaddy: connecting
                initiating data transfers
                receiving data transfers
                data transfers complete
                test complete
                return status 0
                """,
                ""));
    assertThat(server.await())
        .isEqualTo(
            new CommandLineRun(
                0,
                """
                udaddy: starting server
                receiving data transfers
                sending replies
                data transfers complete
                test complete
                return status 0
                """,
                ""));
  }

  @Test
  void udaddyRefusesMessagesThatNoDatagramHolds() throws Exception {
    CommandLineRun client = start(CLIENT, "udaddy -s %s -S 5000".formatted(CLIENT)).await();
    assertThat(client.exitCode()).isEqualTo(1);
    assertThat(client.out())
        .contains("udaddy: message_size 5000 is larger than active mtu 4096\n")
        .endsWith("test complete\nreturn status -22\n");
  }

  @Test
  void mckey() throws Exception {
    RunningCommand receiver = start(SERVER, "mckey -m %s -b %s".formatted(GROUP, SERVER));
    receiver.awaitOutput("receiving data transfers");
    CommandLineRun sender = start(CLIENT, "mckey -m %s -b %s -s".formatted(GROUP, CLIENT)).await();
    assertThat(sender)
        .isEqualTo(
            new CommandLineRun(
                0,
                """
                mckey: starting client
                mckey: joining
                mckey: joined dgid: ::ffff:239.1.2.3 mlid 0x0 sl 0
                initiating data transfers
                data transfers complete
                test complete
                return status 0
                """,
                ""));
    assertThat(receiver.await())
        .isEqualTo(
            new CommandLineRun(
                0,
                """
                mckey: starting server
                mckey: joining
                mckey: joined dgid: ::ffff:239.1.2.3 mlid 0x0 sl 0
                receiving data transfers
                data transfers complete
                test complete
                return status 0
                """,
                ""));
  }

  @Test
  void clientAndServer() throws Exception {
    RunningCommand server = start(SERVER, "rdma-server -s " + SERVER);
    assertThat(client("rdma-client -s " + SERVER))
        .isEqualTo(new CommandLineRun(0, "rdma_client: start\nrdma_client: end 0\n", ""));
    assertThat(server.await())
        .isEqualTo(new CommandLineRun(0, "rdma_server: start\nrdma_server: end 0\n", ""));
  }

  @Test
  void clientWithoutServerIsRefused() throws Exception {
    assertThat(start(CLIENT, "rdma-client -s 127.0.5.52").await())
        .isEqualTo(
            new CommandLineRun(
                1,
                "rdma_client: start\nrdma_client: end -1\n",
                "rdma_connect: Connection refused\n"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "rping -s -q | -q is not supported",
        "rping -s -V | -V is an option of the client",
        "rping -c | a client needs -a",
        "rping -c -a x -P | -P is an option of the server",
        "rping -s -S 65536 | Invalid size 65536 (valid range is 23 to 65535)",
        "rping -s -S 22 | Invalid size 22 (valid range is 23 to 65535)",
        "rping -s -C -1 | Invalid count -1",
        "rping -s -a no.such.host.invalid | 'no.such.host.invalid' is no address",
        "rping -s -p 65536 | -p must be from 0 to 65535, not 65536",
        "rping | Missing required argument",
        "rping -s -c | mutually exclusive",
        "ucmatose -P ib | -P ib is not supported: it must be tcp",
        "ucmatose -f gid | -f gid is not supported: it must be name or ip or ipv6",
        "ucmatose -a 32 | -a must be from 0 to 31, not 32",
        "ucmatose -t 256 | -t must be from 0 to 255, not 256",
        "ucmatose -c 0 | -c must be from 1 to 1000, not 0",
        "udaddy -P ipoib | -P ipoib is not supported: it must be udp",
        "udaddy -p 0x2 | -p 0x2 is not supported: it must be 0x111 or 273",
        "udaddy -m | Unknown option: '-m'",
        "mckey | -m is missing",
        "mckey -M ff0e::1 | -M is not supported",
        "mckey -m 239.1.2.3 -o | -o is not supported",
        "mckey -m 239.1.2.3 -l | -l is not supported",
        "mckey -m 10.0.0.1 | -m 10.0.0.1 is no multicast address",
        "rdma-client -x | Unknown option: '-x'",
      })
  void whatIsNotSupportedIsRefusedByName(String command, String message) {
    CommandLineRun run = CommandLineRun.of(command.split(" "));
    assertThat(run.exitCode()).isEqualTo(ExitCode.USAGE.code());
    assertThat(run.err()).contains(message);
  }
}

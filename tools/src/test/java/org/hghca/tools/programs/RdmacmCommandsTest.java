package org.hghca.tools.programs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Pattern;
import org.hghca.cm.CmEvent;
import org.hghca.cm.CmEventType;
import org.hghca.cm.CmId;
import org.hghca.cm.EventChannel;
import org.hghca.cm.PortSpace;
import org.hghca.programs.ExitCode;
import org.hghca.tools.CommandLineRun;
import org.hghca.tools.RunningCommand;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Context;
import org.hghca.verbs.GlobalRouteHeader;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevices;
import org.hghca.wire.capture.Direction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The programs of librdmacm, each with itself, on two software HCAs on the loopback interface. The
 * lines are those that the originals of rdma-core 56.1 print.
 */
class RdmacmCommandsTest {
  private static final String SERVER = "127.0.5.51";
  private static final String CLIENT = "127.0.5.52";
  private static final Pattern REFUSED =
      Pattern.compile("REJECTED, error:? 8|UNREACHABLE, error:|Connection refused");
  private static final String STRANGER = "127.0.5.53";
  private static final int STRANGERS = 64;
  private static final int RPING_PORT = 7174;
  private static final String GROUP = "239.1.2.3";

  private final List<RunningCommand> started = new ArrayList<>();

  @TempDir Path folder;

  private RunningCommand start(String address, String command) {
    return startOn("model:%s?net=udp:%s".formatted(address, address), command);
  }

  private RunningCommand start(String address, String command, Path capture) {
    return startOn("model:%s?net=udp:%s&capture=%s".formatted(address, address, capture), command);
  }

  private RunningCommand startOn(String locator, String command) {
    RunningCommand running = RunningCommand.start("%s -d %s".formatted(command, locator));
    started.add(running);
    return running;
  }

  /**
   * Runs a client, again while its server does not listen yet: servers print no such thing. A
   * request that comes before the server's device is open is lost, and repeated after 4 s.
   */
  private CommandLineRun client(String command) throws Exception {
    awaitServer();
    return RunningCommand.client(REFUSED, () -> start(CLIENT, command));
  }

  /** Waits until the first command has its UDP socket, or has ended. */
  private void awaitServer() throws IOException {
    String bound = "%s:%04X ".formatted("3305007F", 4791); // 127.0.5.51
    while (!started.isEmpty()
        && !started.getFirst().hasEnded()
        && !Files.readString(Path.of("/proc/net/udp")).contains(bound)) {
      Thread.onSpinWait();
    }
  }

  private static void assertPrints(CommandLineRun run, String out) {
    assertThat(run).isEqualTo(new CommandLineRun(0, out, ""));
  }

  @AfterEach
  void end() {
    started.forEach(RunningCommand::close);
  }

  /** It would take the next option for the name of a device. */
  @Test
  void debugOptionOfTheOriginalsRpingIsRefusedAndOursNamed() {
    CommandLineRun run = CommandLineRun.of("rping", "-c", "-d", "-a", SERVER).assertExit(2);
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

  /** They keep what a connection needs until the connection manager gives them up. */
  @Test
  void persistentServerOfRpingHasNoThreadForPeersThatDoNotConfirm() throws Exception {
    RunningCommand server = start(SERVER, "rping -s -P -a " + SERVER);
    assertThat(client("rping -c -C 1 -a " + SERVER).exitCode()).isZero();
    int threads = Thread.getAllStackTraces().size();
    try (Context context = RdmaDevices.open("model:%1$s?net=udp:%1$s".formatted(STRANGER));
        EventChannel channel = EventChannel.open(context);
        ProtectionDomain pd = context.allocateProtectionDomain();
        CompletionQueue cq = context.createCompletionQueue(1)) {
      List<CmId> strangers = new ArrayList<>();
      for (int i = 0; i < STRANGERS; i++) {
        strangers.add(resolved(channel));
        strangers.getLast().createQueuePair(pd, QueuePairConfig.rc(cq, cq));
      }
      strangers.forEach(CmId::connect);
      assertThat(client("rping -c -C 1 -a " + SERVER).exitCode()).isZero();
      assertThat(Thread.getAllStackTraces()).hasSizeLessThan(threads + STRANGERS / 2);
      strangers.forEach(CmId::close);
    }
    server.interrupt();
    assertThat(server.await().exitCode()).isEqualTo(ExitCode.INTERRUPTED.code());
  }

  private static CmId resolved(EventChannel channel) throws InterruptedException {
    CmId id = channel.createId(PortSpace.TCP);
    id.resolveAddress(new InetSocketAddress(SERVER, RPING_PORT), Duration.ofSeconds(20));
    take(channel, CmEventType.ADDR_RESOLVED);
    id.resolveRoute(Duration.ofSeconds(20));
    take(channel, CmEventType.ROUTE_RESOLVED);
    return id;
  }

  private static void take(EventChannel channel, CmEventType wanted) throws InterruptedException {
    try (CmEvent event = channel.await(Duration.ofSeconds(60)).orElseThrow()) {
      assertThat(event.type()).isEqualTo(wanted);
    }
  }

  @Test
  void rpingWithoutServerIsRejected() throws Exception {
    CommandLineRun client =
        start(CLIENT, "rping -c -a 127.0.5.52").await().assertExit(ExitCode.FAILED.code());
    assertThat(client.err())
        .isEqualTo("cma event RDMA_CM_EVENT_REJECTED, error 8\nwait for CONNECTED state 4\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " -c 3", " -m", " -t 32 -a 14"})
  void ucmatose(String options) throws Exception {
    RunningCommand server = start(SERVER, "ucmatose -b " + SERVER + options);
    CommandLineRun client = client("ucmatose -s " + SERVER + options);
    String migrating = options.contains("-m") ? "migrating to new event channel\n" : "";
    assertPrints(
        client,
        """
        cmatose: starting client
        cmatose: connecting
        receiving data transfers
        sending replies
        data transfers complete
        %stest complete
        return status 0
        """
            .formatted(migrating));
    assertPrints(
        server.await(),
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
            .formatted(migrating));
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
    assertPrints(
        client,
        """
        udaddy: starting client
        udaddy: connecting
        initiating data transfers
        receiving data transfers
        data transfers complete
        test complete
        return status 0
        """);
    assertPrints(
        server.await(),
        """
        udaddy: starting server
        receiving data transfers
        sending replies
        data transfers complete
        test complete
        return status 0
        """);
  }

  @Test
  void udaddyRefusesMessagesThatNoDatagramHolds() throws Exception {
    CommandLineRun client =
        start(CLIENT, "udaddy -s %s -S 5000".formatted(CLIENT)).await().assertExit(1);
    assertThat(client.out())
        .contains("udaddy: message_size 5000 is larger than active mtu 4096\n")
        .endsWith("test complete\nreturn status -22\n");
  }

  @Test
  void mckey() throws Exception {
    RunningCommand receiver = start(SERVER, "mckey -m %s -b %s".formatted(GROUP, SERVER));
    receiver.awaitOutput("receiving data transfers");
    CommandLineRun sender = start(CLIENT, "mckey -m %s -b %s -s".formatted(GROUP, CLIENT)).await();
    assertPrints(
        sender,
        """
        mckey: starting client
        mckey: joining
        mckey: joined dgid: ::ffff:239.1.2.3 mlid 0x0 sl 0
        initiating data transfers
        data transfers complete
        test complete
        return status 0
        """);
    assertPrints(
        receiver.await(),
        """
        mckey: starting server
        mckey: joining
        mckey: joined dgid: ::ffff:239.1.2.3 mlid 0x0 sl 0
        receiving data transfers
        data transfers complete
        test complete
        return status 0
        """);
  }

  @Test
  void clientAndServer() throws Exception {
    RunningCommand server = start(SERVER, "rdma-server -s " + SERVER);
    assertThat(client("rdma-client -s " + SERVER))
        .isEqualTo(new CommandLineRun(0, "rdma_client: start\nrdma_client: end 0\n", ""));
    assertThat(server.await())
        .isEqualTo(new CommandLineRun(0, "rdma_server: start\nrdma_server: end 0\n", ""));
  }

  /**
   * The bytes are those of memory that nothing was written to, as the originals send them. The
   * replies of udaddy begin with the global route header that was received there.
   */
  @ParameterizedTest
  @CsvSource({
    "ucmatose -b, ucmatose -s, 10, 10, 100",
    "ucmatose -S 5 -C 3 -b, ucmatose -S 5 -C 3 -s, 3, 3, 5",
    "udaddy -b, udaddy -s, 10, 10, 100",
    "udaddy -S 4096 -c 2 -b, udaddy -S 4096 -c 2 -s, 20, 20, 4096",
    "rdma-server -s, rdma-client -s, 1, 1, 16",
  })
  void messagesHaveTheBytesOfTheOriginals(
      String serving, String connecting, int out, int in, int bytes) throws Exception {
    String messages = "00".repeat(bytes);
    String unwritten = "00".repeat(Math.max(0, bytes - GlobalRouteHeader.LENGTH));
    Path atServer = folder.resolve("server.pcapng");
    Path atClient = folder.resolve("client.pcapng");
    RunningCommand server = start(SERVER, "%s %s".formatted(serving, SERVER), atServer);
    RunningCommand.client(
            REFUSED, () -> start(CLIENT, "%s %s".formatted(connecting, SERVER), atClient))
        .assertExit(0);
    assertThat(server.await().exitCode()).isZero();

    assertThat(SentMessages.of(atClient, Direction.OUT))
        .isEqualTo(Collections.nCopies(out, messages))
        .isEqualTo(SentMessages.of(atServer, Direction.IN));
    assertThat(SentMessages.of(atServer, Direction.OUT))
        .hasSize(in)
        .allSatisfy(reply -> assertThat(reply).hasSameSizeAs(messages).endsWith(unwritten))
        .isEqualTo(SentMessages.of(atClient, Direction.IN));
  }

  @Test
  void messagesToAGroupHaveTheBytesOfTheOriginals() throws Exception {
    Path atReceiver = folder.resolve("receiver.pcapng");
    Path atSender = folder.resolve("sender.pcapng");
    String join = "mckey -m %s -S 64 -b ".formatted(GROUP);
    RunningCommand receiver = start(SERVER, join + SERVER, atReceiver);
    receiver.awaitOutput("receiving data transfers");
    assertThat(start(CLIENT, join + CLIENT + " -s", atSender).await().exitCode()).isZero();
    assertThat(receiver.await().exitCode()).isZero();

    assertThat(SentMessages.of(atSender, Direction.OUT))
        .isEqualTo(Collections.nCopies(10, "00".repeat(64)))
        .isEqualTo(SentMessages.of(atReceiver, Direction.IN));
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
    CommandLineRun run = CommandLineRun.of(command.split(" ")).assertExit(ExitCode.USAGE.code());
    assertThat(run.err()).contains(message);
  }
}

package org.hghca.conformance.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.hghca.cm.CmId;
import org.hghca.cm.EventChannel;
import org.hghca.cm.PortSpace;
import org.hghca.conformance.interop.GuestProgram.End;
import org.hghca.verbs.DeviceFeature;
import org.hghca.wire.DropCause;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The programs of librdmacm: at one end as Debian has them, at the other end ours. No TCP
 * connection helps: the connection manager's messages are datagrams on the same network.
 */
@WithEachCard
@DisplayName("unmodified")
class RdmacmTest {
  private static final String OURS = "10.99.0.1";
  private static final String GUESTS = "10.99.0.11";
  private static final int UNUSED_PORT = 7999;
  private static final String GROUP = "239.1.2.3";

  private static final Pattern REFUSED =
      Pattern.compile("REJECTED, error:? 8|UNREACHABLE, error: 1|Connection refused");
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private Bench bench;
  private Map<DropCause, Long> expectedDrops = Map.of();

  /**
   * A connection manager of ours is there from the beginning to the end, as that of a kernel is.
   */
  private EventChannel channel;

  private CmId listener;

  @BeforeEach
  void take(Bench itsBench) throws UnknownHostException {
    bench = itsBench;
    channel = EventChannel.open(bench.context());
    listener = channel.createId(PortSpace.TCP);
    listener.bind(new InetSocketAddress(InetAddress.getByName(OURS), UNUSED_PORT));
    listener.listen(0);
  }

  @AfterEach
  void close() {
    listener.close();
    channel.close();
  }

  /**
   * Nothing is lost on this network: no packet is dropped for a cause of ours. The guest's kernel
   * sends other frames now and then, for which a virtio card has no receive queue.
   */
  @AfterEach
  void nothingIsDropped() {
    Map<DropCause, Long> drops = new HashMap<>(bench.hca().counters().drops());
    if (bench.card() == Card.VIRTIO) {
      drops.remove(DropCause.UNWANTED);
    }
    assertThat(drops).as(bench.counts()).isEqualTo(expectedDrops);
    assertThat(bench.hca().linkCounters().orElseThrow().dropped().keySet())
        .as(bench.counts())
        .isSubsetOf(DropCause.NOT_ROCE);
  }

  private GuestProgram guest(String name, String command) {
    return GuestProgram.start(bench.guest(), name, command);
  }

  /**
   * Runs a client in the guest, again while our server does not listen yet: that prints nothing.
   * Not for several connections: the server would take the last ones of the run that is refused.
   */
  private End client(String command) {
    Instant end = Instant.now().plus(PATIENCE);
    while (true) {
      End run = guest("client", command).await();
      if (!REFUSED.matcher(run.output()).find() || Instant.now().isAfter(end)) {
        return run.with(0);
      }
    }
  }

  private GuestProgram listening(String command) {
    return GuestProgram.listening(bench.guest(), "server", command);
  }

  private OurProgram ours(String command) {
    return bench.start(command);
  }

  @ParameterizedTest(name = "rping as client, {0} bytes", quoteTextArguments = false)
  @ValueSource(ints = {23, 64, 1000, 4096, 65_535})
  void rpingAsClient(int size) {
    String options = " -a %s -S %d".formatted(OURS, size);
    OurProgram server = ours("rping -s -v" + options);
    End client = client("rping -c -C 100 -v -V" + options);
    String served = server.await(0);
    assertThat(served).contains("server ping data: rdma-ping-99:", "server DISCONNECT EVENT...");
    assertThat(pings(served)).isEqualTo(pings(client.output())).hasSize(100);
  }

  @ParameterizedTest(name = "rping as server, {0} bytes", quoteTextArguments = false)
  @ValueSource(ints = {23, 64, 1000, 4096, 65_535})
  void rpingAsServer(int size) {
    String options = " -a %s -S %d".formatted(GUESTS, size);
    GuestProgram server = listening("rping -s -v" + options);
    OurProgram client = ours("rping -c -C 100 -v -V" + options);
    String pinged = client.await(0);
    assertThat(pinged).contains("client DISCONNECT EVENT...");
    End served = server.await().with(0);
    assertThat(served.output()).contains("server DISCONNECT EVENT...");
    assertThat(pings(served.output())).isEqualTo(pings(pinged)).hasSize(100);
  }

  private static List<String> pings(String output) {
    return output
        .lines()
        .filter(line -> line.contains("ping data: "))
        .map(line -> line.substring(line.indexOf("ping data: ")))
        .toList();
  }

  @ParameterizedTest(name = "ucmatose as client{0}", quoteTextArguments = false)
  @ValueSource(strings = {"", " -C 100 -S 5000", " -c 3", " -C 0"})
  void ucmatoseAsClient(String options) {
    OurProgram server = ours("ucmatose -b " + OURS + options);
    server.awaitEvents();
    End client = guest("client", "ucmatose -s " + OURS + options).await().with(0);
    assertThat(client.output()).endsWith("test complete\nreturn status 0\n");
    assertThat(server.await(0)).endsWith("disconnected\ntest complete\nreturn status 0\n");
  }

  @ParameterizedTest(name = "ucmatose as server{0}", quoteTextArguments = false)
  @ValueSource(strings = {"", " -C 100 -S 5000", " -c 3", " -C 0"})
  void ucmatoseAsServer(String options) {
    GuestProgram server = listening("ucmatose -b " + GUESTS + options);
    OurProgram client = ours("ucmatose -s " + GUESTS + options);
    assertThat(client.await(0)).endsWith("test complete\nreturn status 0\n");
    assertThat(server.await().with(0).output())
        .endsWith("disconnected\ntest complete\nreturn status 0\n");
  }

  @ParameterizedTest(name = "udaddy as client{0}", quoteTextArguments = false)
  @ValueSource(strings = {"", " -S 1024 -C 50", " -c 3"})
  void udaddyAsClient(String options) {
    OurProgram server = ours("udaddy -b " + OURS + options);
    server.awaitEvents();
    End client = guest("client", "udaddy -s " + OURS + options).await().with(0);
    assertThat(client.output())
        .endsWith("data transfers complete\ntest complete\nreturn status 0\n");
    assertThat(server.await(0))
        .endsWith("data transfers complete\ntest complete\nreturn status 0\n");
  }

  @ParameterizedTest(name = "udaddy as server{0}", quoteTextArguments = false)
  @ValueSource(strings = {"", " -S 1024 -C 50", " -c 3"})
  void udaddyAsServer(String options) {
    GuestProgram server = listening("udaddy -b " + GUESTS + options);
    OurProgram client = ours("udaddy -s " + GUESTS + options);
    assertThat(client.await(0))
        .endsWith("data transfers complete\ntest complete\nreturn status 0\n");
    assertThat(server.await().with(0).output())
        .endsWith("data transfers complete\ntest complete\nreturn status 0\n");
  }

  @Test
  @DisplayName("mckey as receiver")
  void mckeyReceives() {
    bench.assume(DeviceFeature.MULTICAST);
    GuestProgram receiver = guest("receiver", "mckey -m %s -b %s".formatted(GROUP, GUESTS));
    // A sender is a member of the group, too, and has no receives.
    expectedDrops = Map.of(DropCause.UNWANTED, 10L);
    OurProgram sender = ours("mckey -m %s -b %s -s".formatted(GROUP, OURS));
    assertThat(sender.await(0))
        .contains("mckey: joined dgid: ::ffff:" + GROUP + " mlid 0x0 sl 0\n");
    assertThat(receiver.await().with(0).output())
        .endsWith("data transfers complete\ntest complete\nreturn status 0\n");
  }

  @Test
  @DisplayName("mckey as sender")
  void mckeySends() {
    bench.assume(DeviceFeature.MULTICAST);
    OurProgram receiver = ours("mckey -m %s -b %s".formatted(GROUP, OURS));
    receiver.awaitOutput("mckey: joined dgid: ::ffff:" + GROUP + " mlid 0x0 sl 0\n");
    // It waits for no completion: soft RoCE may destroy its queue pair before anything has left.
    int attempts = 0;
    do {
      attempts++;
      End sender = client("mckey -m %s -b %s -s".formatted(GROUP, GUESTS));
      assertThat(sender.output()).contains("mckey: joined dgid: ::ffff:" + GROUP);
    } while (!receiver.hasEnded() && attempts < 8);
    boolean repeated = attempts > 1;
    assertThat(receiver.await(0))
        .endsWith("data transfers complete\ntest complete\nreturn status 0\n");
    if (repeated) {
      expectedDrops = bench.hca().counters().drops(); // what comes after it has enough
    }
  }

  @Test
  @DisplayName("rdma_client")
  void rdmaClient() {
    OurProgram server = ours("rdma-server -s " + OURS);
    End client = client("rdma_client -s " + OURS);
    assertThat(client.output()).isEqualTo("rdma_client: start\nrdma_client: end 0\n");
    assertThat(server.await(0)).isEqualTo("rdma_server: start\nrdma_server: end 0\n");
  }

  @Test
  @DisplayName("rdma_server")
  void rdmaServer() {
    GuestProgram server = listening("rdma_server");
    OurProgram client = ours("rdma-client -s " + GUESTS);
    assertThat(client.await(0)).isEqualTo("rdma_client: start\nrdma_client: end 0\n");
    assertThat(server.await().with(0).output())
        .isEqualTo("rdma_server: start\nrdma_server: end 0\n");
  }
}

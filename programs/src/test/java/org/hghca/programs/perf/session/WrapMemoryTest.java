package org.hghca.programs.perf.session;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.hghca.programs.OfferingDevice;
import org.hghca.programs.Opened;
import org.hghca.programs.peer.PeerException;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.Parameters.Amount;
import org.hghca.programs.perf.Parameters.AtomicKind;
import org.hghca.programs.perf.Parameters.Queues;
import org.hghca.programs.perf.Parameters.Report;
import org.hghca.programs.perf.Parameters.Route;
import org.hghca.programs.perf.PerfTest;
import org.hghca.programs.perf.medium.Conversation;
import org.hghca.programs.perf.medium.Device;
import org.hghca.programs.perf.medium.LocalMedium;
import org.hghca.programs.perf.medium.Medium;
import org.hghca.programs.perf.medium.PeerAddress;
import org.hghca.programs.perf.result.Limits;
import org.hghca.programs.perf.run.Watcher;
import org.hghca.verbs.Gid;
import org.hghca.verbs.QpType;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.WrapMemory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory for the PSN wrap: two of this program exchange it, on devices that need it. */
class WrapMemoryTest {
  private static final Route ROUTE = Route.tcp(1, OptionalInt.empty());
  private static final String VERSION = "6.27\0\0\0\0\0\0\0hghca";

  /** What two of this program have always told each other. */
  private static final String AGREEMENT =
      """
      program=ib_write_bw
      connection type (-c)=%s
      message size (-s, -a)=64
      extent (-n, -D, --run_infinitely)=10 iterations
      queue pairs (-q)=2
      bidirectional (-b)=no
      queue pairs by rdma_cm (-R)=no
      multicast (-g)=no
      """;

  private static final String OFFERED = "memory for the PSN wrap=offered\n";
  private static final WrapMemory OURS = new WrapMemory(0x8100_0002, 0xffff_ffff_ffff_e000L, 4096);
  private static final String OUR_BYTES = "81000002ffffffffffffe00000001000";
  private static final WrapMemory THEIRS = new WrapMemory(7, 0x1_0000, 8192);
  private static final String THEIR_BYTES = "00000007000000000001000000002000";

  private final Opened opened = new Opened();

  @AfterEach
  void close() {
    opened.close();
  }

  private static Parameters parameters(QpType type) {
    return new Parameters(
        PerfTest.IB_WRITE_BW,
        type,
        new Amount(64, false, false, 10, Optional.empty(), Optional.empty()),
        new Queues(2, 16, 1, 1, 1, 0, 0, false, false, AtomicKind.FETCH_AND_ADD),
        ROUTE,
        new Report(false, true, false, false, Optional.empty(), false, Limits.NONE));
  }

  private CompletableFuture<Boolean> start(
      OfferingDevice device, QpType type, Medium medium, boolean client) {
    CompletableFuture<Boolean> run = new CompletableFuture<>();
    Thread thread =
        Thread.ofPlatform()
            .start(
                () -> {
                  try (medium) {
                    PrintWriter out = new PrintWriter(new StringWriter());
                    Device used = Device.inLoop(device.context(), ROUTE);
                    run.complete(
                        new PerfSession(
                                parameters(type),
                                _ -> parameters(type),
                                used,
                                out,
                                out,
                                _ -> {},
                                Watcher.none())
                            .run(medium, client));
                  } catch (InterruptedException | RuntimeException e) {
                    run.completeExceptionally(e);
                  }
                });
    AutoCloseable _ =
        opened.add(
            () -> {
              thread.interrupt();
              thread.join();
            });
    return run;
  }

  private OfferingDevice device(String profile, WrapMemory offer) {
    String locator = "model:perf-%s?profile=%s".formatted(profile, profile);
    return new OfferingDevice(opened.add(RdmaDevices.open(locator)), Optional.of(offer));
  }

  @Test
  void bothSidesTakeTheMemoryOfEachQueuePairOfTheOther() throws Exception {
    OfferingDevice server = device("r1", OURS);
    OfferingDevice client = new OfferingDevice(server.real(), Optional.of(THEIRS));
    List<Medium> ends = LocalMedium.pair(Conversation.SOON);
    CompletableFuture<Boolean> waiting = start(server, QpType.RC, ends.getFirst(), false);
    CompletableFuture<Boolean> measuring = start(client, QpType.RC, ends.getLast(), true);

    assertThat(measuring.get(50, TimeUnit.SECONDS)).isTrue();
    assertThat(waiting.get(50, TimeUnit.SECONDS)).isTrue();
    assertThat(server.taken()).containsExactly(THEIRS, THEIRS);
    assertThat(client.taken()).containsExactly(OURS, OURS);
  }

  /** A client up to the exchange of parameters, of which this says what the server sent. */
  private static String agree(Medium client, String parameters) throws InterruptedException {
    client.write(VERSION.getBytes(US_ASCII));
    assertThat(new String(client.read("version", 16), US_ASCII)).isEqualTo(VERSION);
    client.write(Arrays.copyOf(parameters.getBytes(US_ASCII), 512));
    byte[] answer = client.read("parameters", 512);
    String text = new String(answer, US_ASCII);
    String lines = text.substring(0, text.indexOf(0));
    assertThat(Arrays.copyOf(lines.getBytes(US_ASCII), 512)).isEqualTo(answer);
    return lines;
  }

  private static void layoutsAndMtu(Medium client) throws InterruptedException {
    client.write(HexFormat.of().parseHex("00001000"));
    byte[] _ = client.read("page size", 4);
    client.write(HexFormat.of().parseHex("00000040"));
    byte[] _ = client.read("cache line", 4);
    client.write("3\0".getBytes(US_ASCII));
    byte[] _ = client.read("MTU", 2);
  }

  /** Byte for byte as before: the next is an address. */
  private static void assertAddressFollows(Medium client) throws InterruptedException {
    client.writeAddress(
        new PeerAddress(0, 1, 0x11, 1, 1, 0x1000, 0, Optional.of(Gid.ofIpv4(0x0a000001))));
    assertThat(client.readAddress().gid()).isPresent();
  }

  @ParameterizedTest
  @EnumSource(names = {"RC", "UC"})
  void deviceWhosePsnsWrapSaysNothingOfIt(QpType type) throws Exception {
    OfferingDevice device = device("s", OURS);
    List<Medium> ends = LocalMedium.pair(Conversation.SOON);
    CompletableFuture<Boolean> _ = start(device, type, ends.getFirst(), false);
    Medium client = ends.getLast();

    String plain = AGREEMENT.formatted(type);
    assertThat(agree(client, plain + OFFERED)).isEqualTo(plain);
    layoutsAndMtu(client);
    assertAddressFollows(client);
    assertThat(device.taken()).isEmpty();
    client.close();
  }

  @Test
  void unreliableQueuePairsOfferNothing() throws Exception {
    OfferingDevice device = device("r1", OURS);
    List<Medium> ends = LocalMedium.pair(Conversation.SOON);
    CompletableFuture<Boolean> _ = start(device, QpType.UC, ends.getFirst(), false);
    String plain = AGREEMENT.formatted("UC");
    assertThat(agree(ends.getLast(), plain)).isEqualTo(plain);
    ends.getLast().close();
  }

  /** An older version of this program, or one on a device whose PSNs wrap. */
  @Test
  void peerThatSaysNothingOfItIsOfferedNothing() throws Exception {
    OfferingDevice device = device("r1", OURS);
    List<Medium> ends = LocalMedium.pair(Conversation.SOON);
    CompletableFuture<Boolean> _ = start(device, QpType.RC, ends.getFirst(), false);
    Medium client = ends.getLast();

    String plain = AGREEMENT.formatted("RC");
    assertThat(agree(client, plain)).isEqualTo(plain + OFFERED);
    layoutsAndMtu(client);
    assertAddressFollows(client);
    assertThat(device.taken()).isEmpty();
    client.close();
  }

  @Test
  void offersAreExchangedBeforeAddresses() throws Exception {
    OfferingDevice device = device("r1", OURS);
    List<Medium> ends = LocalMedium.pair(Conversation.SOON);
    CompletableFuture<Boolean> _ = start(device, QpType.RC, ends.getFirst(), false);
    Medium client = ends.getLast();

    String _ = agree(client, AGREEMENT.formatted("RC") + OFFERED);
    layoutsAndMtu(client);
    for (String theirs : List.of(THEIR_BYTES, "0".repeat(32))) {
      client.write(HexFormat.of().parseHex(theirs));
      assertThat(HexFormat.of().formatHex(client.read("offer", 16))).isEqualTo(OUR_BYTES);
    }
    assertAddressFollows(client);
    assertThat(device.taken()).containsExactly(THEIRS);
    client.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "00000000ffffffffffffe00000001000", // no key
        "81000002ffffffffffffe00000000fff", // too short
        "81000002ffffffffffffe00000002001", // beyond the end of the address space
      })
  void malformedOfferIsNamed(String offer) throws Exception {
    OfferingDevice device = device("r1", OURS);
    List<Medium> ends = LocalMedium.pair(Conversation.SOON);
    CompletableFuture<Boolean> run = start(device, QpType.RC, ends.getFirst(), false);
    Medium client = ends.getLast();

    String _ = agree(client, AGREEMENT.formatted("RC") + OFFERED);
    layoutsAndMtu(client);
    client.write(HexFormat.of().parseHex(offer));
    assertThatThrownBy(() -> run.get(50, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .cause()
        .isInstanceOf(PeerException.class)
        .hasMessageContaining("is no memory for the PSN wrap");
    assertThat(device.taken()).isEmpty();
    client.close();
  }
}

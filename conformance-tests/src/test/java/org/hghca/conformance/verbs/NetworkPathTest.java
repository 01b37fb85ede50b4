package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.hghca.conformance.profile.OnlyOn;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Context;
import org.hghca.verbs.Gid;
import org.hghca.verbs.QpType;
import org.hghca.verbs.RoceEntropy;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WrOpcode;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The network headers of packets as the kernel's UDP sockets have received them, read by Wireshark.
 */
@Tag("long")
@OnlyOn(value = "s", why = "the packets of the RTL are not RoCE's")
class NetworkPathTest {
  private static final String LEFT = "127.0.6.25";
  private static final String RIGHT = "127.0.6.26";

  @TempDir Path folder;

  /** What Wireshark shows of a packet that has arrived. */
  private record Arrived(String source, int port, int trafficClass, int hopLimit) {}

  @BeforeEach
  void ownDevices() {
    TestProfile.requireModel();
  }

  private RcPair open(RcSetup setup) {
    return setup.on(Fabric.on(locator("left", LEFT), locator("right", RIGHT)));
  }

  private String locator(String side, String address) {
    return "model:path-%s?net=udp:%s&capture=%s".formatted(side, address, file(side));
  }

  private Path file(String side) {
    return folder.resolve(side + ".pcapng");
  }

  private static void transfer(RcPair pair) {
    boolean reliable = pair.setup().type() == QpType.RC;
    new Transfer(pair.left, pair.right, 1)
        .run(WrOpcode.SEND, Pieces.one(0, 5000), Pieces.one(0, 5000));
    new Transfer(pair.right, pair.left, 2)
        .run(
            reliable ? WrOpcode.RDMA_READ : WrOpcode.SEND,
            Pieces.one(0, 10_000),
            Pieces.one(0, 10_000));
  }

  private List<Arrived> arrived(String side) throws IOException, InterruptedException {
    List<String> fields = List.of("ip.src", "udp.srcport", "ip.dsfield", "ip.ttl");
    return Tshark.fields(file(side), fields, "-Y", "frame.packet_flags_direction == 1").stream()
        .map(line -> line.split("\\|"))
        .map(
            field ->
                new Arrived(
                    field[0],
                    Integer.parseInt(field[1]),
                    Integer.decode(field[2]),
                    Integer.parseInt(field[3])))
        .toList();
  }

  static Stream<Arguments> versions() {
    return Stream.of(RoceEntropy.values())
        .flatMap(v -> Stream.of(QpType.RC, QpType.UC).map(type -> Arguments.of(v, type)));
  }

  @ParameterizedTest
  @MethodSource("versions")
  void bothDirectionsHaveTheSourcePortOfTheNumbers(RoceEntropy version, QpType type)
      throws IOException, InterruptedException {
    int port;
    try (RcPair pair = open(new RcSetup().type(type).unconnected())) {
      for (Context context : List.of(pair.left.context, pair.right.context)) {
        context.entropy(version);
      }
      pair.connect(1, 2);
      port = version.connectionPort(pair.left.qp.number(), pair.right.qp.number());
      transfer(pair);
    }
    assertThat(arrived("right")).isNotEmpty().containsOnly(new Arrived(LEFT, port, 0, 64));
    assertThat(arrived("left")).isNotEmpty().containsOnly(new Arrived(RIGHT, port, 0, 64));
  }

  @ParameterizedTest
  @EnumSource(names = {"RC", "UC"})
  void fieldsOfTheAddressVectorReachThePeer(QpType type) throws IOException, InterruptedException {
    try (RcPair pair = open(new RcSetup().type(type).path(0xabcde, 0xb9, 17))) {
      transfer(pair);
    }
    int port = RoceEntropy.portOf(0xabcde);
    assertThat(arrived("right")).isNotEmpty().containsOnly(new Arrived(LEFT, port, 0xb9, 17));
    assertThat(arrived("left")).isNotEmpty().containsOnly(new Arrived(RIGHT, port, 0xb9, 17));
  }

  @ParameterizedTest
  @EnumSource(RoceEntropy.class)
  void datagramsHaveTheFieldsOfTheirHandle(RoceEntropy version)
      throws IOException, InterruptedException {
    int own;
    try (RcPair pair = open(new RcSetup().type(QpType.UD))) {
      Context context = pair.left.context;
      context.entropy(version);
      Gid peer = pair.right.context.queryGid(1, 0);
      own = version.datagramPort(pair.left.qp.number(), pair.right.qp.number());
      datagram(pair, AddressVector.to(peer, 0));
      datagram(pair, new AddressVector(peer, 0, 0, 0, 0xb9, 0, 1));
      datagram(pair, new AddressVector(peer, 0, 0xabcde, 3, 0x02, 0, 1));
    }
    assertThat(arrived("right"))
        .containsExactly(
            new Arrived(LEFT, own, 0, 64),
            new Arrived(LEFT, own, 0xb9, 64),
            new Arrived(LEFT, RoceEntropy.portOf(0xabcde), 0x02, 3));
  }

  private static void datagram(RcPair pair, AddressVector to) {
    pair.right.postReceive(1, 0, 100);
    try (AddressHandle handle = pair.left.pd.createAddressHandle(to)) {
      assertThat(handle.vector().trafficClass()).isEqualTo(to.trafficClass());
      assertThat(handle.vector().flowLabel()).isEqualTo(to.flowLabel());
      SendRequest request = pair.left.send.send().to(handle, pair.right.qp.number(), 0x1111_1111);
      pair.left.qp.postSend(request.sge(pair.left.buffer, 0, 8).signaled());
      Side.assertSuccess(pair.left.sent());
      Side.assertSuccess(pair.right.received());
    }
  }

  @Test
  void hopLimitOneIsThatOfTheRoute() throws IOException, InterruptedException {
    try (RcPair pair = open(new RcSetup().path(0, 0, 1))) {
      transfer(pair);
    }
    assertThat(arrived("right")).extracting(Arrived::hopLimit).containsOnly(64);
  }
}

package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.conformance.verbs.Failures.assertErrno;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.hghca.conformance.profile.OnlyOn;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.model.ModelProvider;
import org.hghca.model.SoftwareHca;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.GidEntry;
import org.hghca.verbs.GidType;
import org.hghca.verbs.GlobalRouteHeader;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.WrOpcode;
import org.hghca.vfio.Locator;
import org.hghca.vfio.user.UserServer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** GIDs of IPv6 addresses, and connections and datagrams between them. */
class Ipv6Test {
  private static final String LEFT_ADDRESSES = "ip=10.0.0.1,fd00::1,10.0.0.11,2001:db8::1";
  private static final String RIGHT_ADDRESSES = "ip=fd00::2,10.0.0.2";
  private static final long LEFT_MAC = 0x0200_0000_0001L;
  private static final long RIGHT_MAC = 0x0200_0000_0002L;
  private static final int QUEUE_KEY = 0x1111_1111;

  @BeforeEach
  void ownDevices() {
    TestProfile.requireModel();
  }

  private static Gid gid(String address) {
    return Gid.of(InetAddress.ofLiteral(address));
  }

  /** Two HCAs with several addresses each, joined by a cable or a hub, which know their MACs. */
  private static Fabric fabric(String joined) {
    Fabric fabric =
        Fabric.on(
            "model:ip6-left?%s&mac=02:00:00:00:00:01&%s".formatted(joined, LEFT_ADDRESSES),
            "model:ip6-right?%s&mac=02:00:00:00:00:02&%s".formatted(joined, RIGHT_ADDRESSES));
    for (String address : List.of("fd00::2", "10.0.0.2")) {
      fabric.left().addNeighbor(gid(address), RIGHT_MAC);
    }
    for (String address : List.of("fd00::1", "2001:db8::1", "10.0.0.1", "10.0.0.11")) {
      fabric.right().addNeighbor(gid(address), LEFT_MAC);
    }
    return fabric;
  }

  private static int index(Context context, String address) {
    return context.queryGidTable().stream()
        .filter(entry -> entry.gid().equals(gid(address)))
        .findFirst()
        .orElseThrow()
        .index();
  }

  private static void toRts(RcPair pair, Side side, Side peer, String own, String others) {
    var options = pair.setup().connection().withGidIndex(index(side.context, own));
    QueuePair qp = side.qp;
    qp.modify(options.toInit(qp.type()));
    qp.modify(options.toRtr(qp.type(), new QpEndpoint(0, peer.qp.number(), 5, gid(others))));
    qp.modify(options.toRts(qp.type(), 5));
  }

  @OnlyOn(value = "s", why = "the cards have no table of GIDs")
  @Test
  void tableHasTheOrderOfLinux() {
    try (Fabric fabric = fabric("cable=ip6")) {
      Context left = fabric.left();
      assertThat(left.queryGidTable())
          .extracting(GidEntry::gid)
          .containsExactly(
              Gid.ofMac(LEFT_MAC),
              gid("10.0.0.1"),
              gid("10.0.0.11"),
              gid("fd00::1"),
              gid("2001:db8::1"));
      assertThat(left.queryGidTable()).extracting(GidEntry::type).containsOnly(GidType.ROCE_V2);
      assertThat(left.queryGidTable()).extracting(GidEntry::index).containsExactly(0, 1, 2, 3, 4);
      assertThat(left.queryPort(1).gidTableLength()).isEqualTo(5);
      assertThat(left.queryGid(1, 4)).isEqualTo(gid("2001:db8::1"));
    }
  }

  @OnlyOn(value = "s", why = "the cards carry no IPv6 addresses")
  @ParameterizedTest
  @CsvSource({
    "RC, cable=ip6, fd00::1, fd00::2",
    "RC, hub=ip6, fd00::1, fd00::2",
    "RC, hub=ip6, 2001:db8::1, fd00::2",
    "RC, hub=ip6, 10.0.0.11, 10.0.0.2",
    "UC, cable=ip6, fd00::1, fd00::2",
    "UC, hub=ip6, 10.0.0.1, 10.0.0.2"
  })
  void connectionsOfEitherFamilyMoveData(QpType type, String joined, String left, String right) {
    RcSetup setup = new RcSetup().type(type).unconnected().bufferSize(1 << 17);
    try (RcPair pair = setup.on(fabric(joined))) {
      toRts(pair, pair.left, pair.right, left, right);
      toRts(pair, pair.right, pair.left, right, left);
      Transfer transfer = new Transfer(pair.left, pair.right, 1);
      for (int size : new int[] {0, 1, 1023, 1024, 1025, 60_000}) {
        transfer.run(WrOpcode.SEND, Pieces.one(64, size), Pieces.one(131, size));
      }
    }
  }

  /** Both families on the same port at once. */
  @OnlyOn(value = "s", why = "the cards carry no IPv6 addresses")
  @Test
  void portHasConnectionsOfBothFamilies() {
    Fabric shared = fabric("hub=ip6");
    RcSetup setup = new RcSetup().unconnected();
    try (RcPair one = setup.on(shared)) {
      toRts(one, one.left, one.right, "fd00::1", "fd00::2");
      toRts(one, one.right, one.left, "fd00::2", "fd00::1");
      try (Side left = new Side(shared, shared.left(), setup);
          Side right = new Side(shared, shared.right(), setup)) {
        toRts(one, left, right, "10.0.0.1", "10.0.0.2");
        toRts(one, right, left, "10.0.0.2", "10.0.0.1");
        new Transfer(left, right, 2).run(WrOpcode.SEND, Pieces.one(0, 3000), Pieces.one(0, 3000));
        new Transfer(one.left, one.right, 2)
            .run(WrOpcode.SEND, Pieces.one(0, 3000), Pieces.one(0, 3000));
      }
    }
  }

  @OnlyOn(value = "s", why = "the cards carry no IPv6 addresses")
  @ParameterizedTest
  @CsvSource({"fd00::1, fd00::2, 0", "2001:db8::1, fd00::2, 100", "10.0.0.11, 10.0.0.2, 100"})
  void datagramHasTheHeaderOfItsFamily(String from, String to, int length) {
    try (RcPair pair = new RcSetup().type(QpType.UD).on(fabric("hub=ip6"))) {
      Side left = pair.left;
      Side right = pair.right;
      left.randomize(0, length, new SplittableRandom(length));
      right.postReceive(2, 8192, 40 + length);
      left.postReceive(3, 8192, 40 + length);
      AddressVector vector = AddressVector.to(gid(to), index(left.context, from));
      try (AddressHandle handle = left.pd.createAddressHandle(vector)) {
        left.qp.postSend(
            left.send
                .send()
                .to(handle, right.qp.number(), QUEUE_KEY)
                .sge(left.buffer, 0, length)
                .signaled());
        Side.assertSuccess(left.sent());
      }
      Completions found = new Completions(1);
      pair.fabric.await(() -> right.receiveQueue.poll(found) == 1, () -> "nothing has come");
      assertThat(found.byteLength(0)).isEqualTo(40 + length);
      MemorySegment header = right.memory().asSlice(8192, 40);
      GlobalRouteHeader route = GlobalRouteHeader.of(header);
      assertThat(route.sourceGid()).isEqualTo(gid(from));
      assertThat(route.destinationGid()).isEqualTo(gid(to));
      assertThat(route.hopLimit()).isEqualTo(64);
      assertHeader(header, from, to, 8 + 12 + 8 + length + 4);
      try (AddressHandle back = right.pd.createAddressHandle(found, 0, header, 1)) {
        assertThat(back.vector().destination()).isEqualTo(gid(from));
        assertThat(back.vector().sourceGidIndex()).isEqualTo(index(right.context, to));
        right.qp.postSend(
            right
                .send
                .send()
                .to(back, found.sourceQp(0), QUEUE_KEY)
                .sge(right.buffer, 8192 + 40, length));
      }
      pair.fabric.await(() -> left.receiveQueue.poll(found) == 1, () -> "nothing has come back");
      MemorySegment echo = left.memory().asSlice(8192 + 40, length);
      assertThat(echo.mismatch(left.memory().asSlice(0, length))).isEqualTo(-1);
    }
  }

  /**
   * @param udp bytes from the UDP header to the invariant CRC
   */
  private static void assertHeader(MemorySegment header, String from, String to, int udp) {
    String hex = HexFormat.of().formatHex(header.toArray(ValueLayout.JAVA_BYTE));
    if (gid(from).ipv4().isEmpty()) {
      assertThat(hex).startsWith("600"); // and the flow label, which follows from the queue pairs
      assertThat(hex.substring(8))
          .isEqualTo("%04x1140".formatted(udp) + gid(from).hex() + gid(to).hex());
      return;
    }
    assertThat(hex).startsWith("00".repeat(20) + "4500%04x".formatted(20 + udp)).contains("4011");
    int sum = 0;
    for (int at = 40; at < 80; at += 4) {
      sum += HexFormat.fromHexDigits(hex, at, at + 4);
    }
    assertThat((sum & 0xffff) + (sum >>> 16)).as("checksum").isEqualTo(0xffff);
  }

  @OnlyOn(value = "s", why = "the cards have no table of GIDs")
  @ParameterizedTest
  @CsvSource({
    "0, 10.0.0.2, 'source GID index 0 of model:ip6-left', 'such as index 1'",
    "1, fd00::2, 'is IPv4, and the destination fd00:', 'such as index 0'",
    "3, 10.0.0.2, 'is IPv6, and the destination 0000:', 'such as index 1'"
  })
  void familiesDoNotMix(int source, String to, String complaint, String fix) {
    for (QpType type : List.of(QpType.RC, QpType.UD)) {
      try (RcPair pair = new RcSetup().type(type).unconnected().on(fabric("cable=ip6"))) {
        ThrowingCallable call =
            () -> {
              if (type == QpType.UD) {
                pair.left.pd.createAddressHandle(AddressVector.to(gid(to), source)).close();
              } else {
                var options = pair.setup().connection().withGidIndex(source);
                pair.left.qp.modify(options.toInit(type));
                pair.left.qp.modify(options.toRtr(type, new QpEndpoint(0, 5, 5, gid(to))));
              }
            };
        assertErrno(Errno.EINVAL, call, complaint);
        assertErrno(Errno.EINVAL, call, fix);
      }
    }
  }

  /** The answer of a card of the document or of the makers' RTL. */
  @OnlyOn(
      value = {"s", "r1", "r2"},
      why = "a virtio device has IPv6 addresses")
  @ParameterizedTest
  @EnumSource(names = {"RC", "UD"})
  void deviceWithoutIpv6AddressesRefusesThem(QpType type) {
    String locator = TestProfile.model("model:ip4?mode=inline&as=" + TestProfile.name());
    RcSetup setup = new RcSetup().type(type).unconnected();
    try (RcPair pair = setup.on(Fabric.on(locator, locator))) {
      assertThat(pair.left.context.queryGidTable()).hasSize(2);
      assertErrno(
          Errno.EOPNOTSUPP,
          () -> pair.left.pd.createAddressHandle(AddressVector.to(gid("fd00::2"), 1)),
          "carries no IPv6 addresses: take the peer's GID of its IPv4 address");
    }
    assertErrno(
        Errno.EOPNOTSUPP,
        () -> RdmaDevices.open(locator + "&ip=10.0.0.1,fd00::1").close(),
        "carries no IPv6 addresses: leave fd00:0:0:0:0:0:0:1 out of ip=");
  }

  @OnlyOn(value = "s", why = "the makers' cards are not on a network")
  @Test
  void addressThatTheServersNetworkDoesNotHaveIsRefused(@TempDir Path directory) {
    String socket = directory.resolve("hca").toString();
    SoftwareHca hca = ModelProvider.plugIn(Locator.parse("model:served?net=udp:127.0.6.17"));
    try (UserServer server = UserServer.start(socket, hca)) {
      assertThat(server).isNotNull();
      assertErrno(
          Errno.EINVAL,
          () -> RdmaDevices.open("vfio-user:" + socket + "?ip=127.0.6.18").close(),
          "cannot send from 127.0.6.18: name the addresses of its network with ip=");
      try (Context context = RdmaDevices.open("vfio-user:" + socket + "?ip=127.0.6.17")) {
        assertThat(context.queryGid(1, 0)).isEqualTo(gid("127.0.6.17"));
      }
    } finally {
      hca.close();
    }
  }
}

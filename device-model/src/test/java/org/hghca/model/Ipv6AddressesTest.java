package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import java.util.Map;
import org.hghca.abi.DataUnit;
import org.hghca.abi.GidTable;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.QueuePairContext;
import org.hghca.abi.UdUnit;
import org.hghca.model.Host.Completion;
import org.hghca.model.Host.Piece;
import org.hghca.wire.DropCause;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The IPv6 address extension through registers, rings and memory. */
class Ipv6AddressesTest {
  private static final int BAD_PARAM = 0x03;
  private static final int LOCAL_QP_OPERATION = 0x02;
  private static final int UC = 1;
  private static final int UD = 3;
  private static final int SEND = 0x0a;
  private static final long PREFIX = 0xfd00_0000_0000_0000L;
  private static final long LEFT = 0x11;
  private static final long RIGHT = 0x22;
  private static final int QKEY = 0x1234;
  private static final int LEFT_INDEX = 3;
  private static final int RIGHT_INDEX = 63;

  private final Pair pair = new Pair();
  private final Host.Buffer source = pair.left.buffer(4096, Host.ALL);
  private final Host.Buffer target = pair.right.buffer(4096, Host.ALL);

  private static int writeGid(Host host, int index, long high, long low) {
    GidTable.LAYOUT.clear(host.in());
    GidTable.GID_HIGH.setLong(host.in(), high);
    GidTable.GID_LOW.setLong(host.in(), low);
    return host.command(HcrCommand.WRITE_GID, 0, index);
  }

  @BeforeEach
  void writeGids() {
    for (long i = 0; i < source.memory().byteSize(); i++) {
      source.memory().set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7 + 3));
    }
    assertThat(writeGid(pair.left, LEFT_INDEX, PREFIX, LEFT)).isZero();
    assertThat(writeGid(pair.right, RIGHT_INDEX, PREFIX, RIGHT)).isZero();
  }

  @AfterEach
  void close() {
    assertThat(pair.leftHca().faults()).isEmpty();
    pair.close();
  }

  /** Connects both ends by IPv6; the document's own IPv4 fields hold unreachable addresses. */
  private void connect(int service) {
    pair.a.context.set(QueuePairContext.SERVICE_TYPE, service).set(QueuePairContext.QKEY, QKEY);
    pair.b.context.set(QueuePairContext.SERVICE_TYPE, service).set(QueuePairContext.QKEY, QKEY);
    pair.a.peer(pair.right, pair.b);
    pair.b.peer(pair.left, pair.a);
    route(pair.a, LEFT_INDEX, RIGHT);
    route(pair.b, RIGHT_INDEX, LEFT);
    pair.a.toRts();
    pair.b.toRts();
  }

  private static void route(Host.Qp qp, int index, long to) {
    qp.context
        .set(QueuePairContext.MGID_INDEX, index)
        .setLong(QueuePairContext.REMOTE_GID_HIGH, PREFIX)
        .setLong(QueuePairContext.REMOTE_GID_LOW, to)
        .set(QueuePairContext.SOURCE_IP, 0)
        .set(QueuePairContext.DESTINATION_IP, 0);
  }

  private int datagram(int flags) {
    return pair.a.post(
        SEND,
        0,
        5,
        units -> {
          UdUnit.write(
              units,
              0,
              1,
              pair.left.address.mac(),
              pair.right.address.mac(),
              0,
              0,
              pair.b.number,
              QKEY);
          UdUnit.writeIpv6(units, 0, PREFIX, RIGHT, flags);
          DataUnit.write(units, 48, 8, source.key(), source.address());
        });
  }

  private void arrives(int length) {
    MemorySegment sent = source.memory().asSlice(0, length);
    assertThat(target.memory().asSlice(0, length).mismatch(sent)).isEqualTo(-1);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, UC})
  void ipv6ConnectionMovesData(int service) {
    connect(service);
    pair.b.receive(new Piece(target, 0, 4096));
    pair.a.send(new Piece(source, 0, 4096));
    assertThat(pair.a.cq.take().failed()).isFalse();
    assertThat(pair.b.cq.take().failed()).isFalse();
    arrives(4096);
    assertThat(pair.leftHca().counters().timeouts()).isZero();
  }

  @Test
  void packetFromAnotherIpv6AddressIsDropped() {
    connect(UC);
    writeGid(pair.left, LEFT_INDEX, PREFIX, LEFT + 1);
    pair.b.receive(new Piece(target, 0, 4096));
    pair.a.send(new Piece(source, 0, 8));
    assertThat(pair.a.cq.take().failed()).isFalse();
    assertThat(pair.rightHca().counters().drops()).isEqualTo(Map.of(DropCause.ADDRESS, 1L));
  }

  @Test
  void datagramDeliversTheIpv6Header() {
    connect(UD);
    pair.b.receive(new Piece(target, 0, 100));
    datagram(UdUnit.ipv6Path(LEFT_INDEX));
    assertThat(pair.a.cq.take().failed()).isFalse();
    assertThat(pair.b.cq.take().bytes()).isEqualTo(48);
    byte[] header = target.memory().asSlice(0, 40).toArray(ValueLayout.JAVA_BYTE);
    // Version 6, 8 + 12 + 8 + 8 + 4 bytes of UDP, hop limit 64.
    assertThat(HexFormat.of().formatHex(header))
        .isEqualTo(
            "60000000"
                + "00281140"
                + "fd000000000000000000000000000011"
                + "fd000000000000000000000000000022");
    assertThat(target.memory().asSlice(40, 8).mismatch(source.memory().asSlice(0, 8)))
        .isEqualTo(-1);
  }

  @ParameterizedTest
  @ValueSource(ints = {LEFT_INDEX + 1, 200})
  void datagramFromAnEntryWithoutAnIpv6AddressFails(int index) {
    connect(UD);
    assertThat(writeGid(pair.left, LEFT_INDEX + 1, 0, 0xffff_0a00_0001L)).isZero();
    int wqe = datagram(UdUnit.ipv6Path(index));
    assertThat(pair.a.cq.take())
        .isEqualTo(new Completion(pair.a.number, 0xff, true, 0, wqe, 0, LOCAL_QP_OPERATION));
  }

  @ParameterizedTest
  @ValueSource(ints = {64, 255, -1, Integer.MIN_VALUE})
  void entryBeyondTheTableIsRefused(int index) {
    assertThat(writeGid(pair.left, index, PREFIX, 5)).isEqualTo(BAD_PARAM);
  }

  @Test
  void closeHcaClearsTheTable() {
    pair.left.must(HcrCommand.CLOSE_HCA, 0, 0);
    assertThat(writeGid(pair.left, LEFT_INDEX, PREFIX, LEFT))
        .as("before INIT_HCA")
        .isEqualTo(BAD_PARAM);
    pair.left.bringUp();
    pair.a = pair.left.qp();
    pair.a.context.set(QueuePairContext.SERVICE_TYPE, UD);
    pair.a.toRts();
    datagram(UdUnit.ipv6Path(LEFT_INDEX));
    assertThat(pair.a.cq.take().word()).isEqualTo(LOCAL_QP_OPERATION);
  }
}

package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import org.hghca.abi.DataUnit;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.InlineUnit;
import org.hghca.abi.QueuePairContext;
import org.hghca.model.Host.Completion;
import org.hghca.model.Host.Piece;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Unreliable connections and datagrams through registers, rings and memory. */
class UnreliableTest {
  private static final int UC = 1;
  private static final int UD = 3;
  private static final int SEND = 0x0a;
  private static final int SEND_IMM = 0x0b;
  private static final int LOCAL_QP_OPERATION = 0x02;
  private static final int LOCAL_PROTECTION = 0x04;
  private static final int FLUSHED = 0x05;
  private static final int RTS = 3;
  private static final int SQE = 4;
  private static final int SQD = 5;
  private static final int ERR = 6;

  private final Pair pair = new Pair();
  private final Host.Buffer source = pair.left.buffer(16 * 1024, Host.ALL);
  private final Host.Buffer target = pair.right.buffer(16 * 1024, Host.ALL);

  @BeforeEach
  void fill() {
    SplittableRandom random = new SplittableRandom(1);
    for (long i = 0; i < source.memory().byteSize(); i += 8) {
      source.memory().set(ValueLayout.JAVA_LONG, i, random.nextLong());
    }
  }

  @AfterEach
  void close() {
    assertThat(pair.leftHca().faults()).isEmpty();
    assertThat(pair.rightHca().faults()).isEmpty();
    pair.close();
  }

  private void connect(int service) {
    for (Host.Qp qp : new Host.Qp[] {pair.a, pair.b}) {
      prepare(qp, service);
    }
    pair.connect();
  }

  private static void prepare(Host.Qp qp, int service) {
    qp.context
        .set(QueuePairContext.SERVICE_TYPE, service)
        .set(QueuePairContext.MTU, 3)
        .set(QueuePairContext.QKEY, 0x1000 + qp.number);
  }

  private static Host.Qp datagrams(Host host) {
    Host.Qp qp = host.qp();
    prepare(qp, UD);
    qp.toRts();
    return qp;
  }

  private void sendFails(int wqe, int syndrome) {
    assertThat(pair.a.cq.take())
        .isEqualTo(new Completion(pair.a.number, 0xff, true, 0, wqe, 0, syndrome));
  }

  private static void same(MemorySegment a, long atA, MemorySegment b, long atB, long length) {
    assertThat(a.asSlice(atA, length).mismatch(b.asSlice(atB, length))).isEqualTo(-1);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 1024, 1025, 4097, 16 * 1024})
  void sendsAndWritesOfAConnectionArrive(int length) {
    connect(UC);
    int slot = pair.b.receive(new Piece(target, 0, length));
    int wqe = pair.a.send(new Piece(source, 0, length));
    assertThat(pair.a.cq.take())
        .isEqualTo(new Completion(pair.a.number, SEND, true, length, wqe, pair.b.number, 0));
    assertThat(pair.b.cq.take())
        .isEqualTo(
            new Completion(
                pair.b.number, length > 1024 ? 2 : 4, false, length, slot, pair.a.number, 0));
    same(source.memory(), 0, target.memory(), 0, length);
    target.memory().fill((byte) 0);
    int next = pair.b.receive();
    pair.a.post(0x09, target.address(), target.key(), 55, 0, new Piece(source, 0, length));
    assertThat(pair.a.cq.take().failed()).isFalse();
    assertThat(pair.b.cq.take())
        .isEqualTo(
            new Completion(
                pair.b.number, length > 1024 ? 9 : 11, false, length, next, pair.a.number, 55));
    same(source.memory(), 0, target.memory(), 0, length);
    assertThat(pair.rightHca().counters().packetsSent()).isZero();
  }

  @Test
  void contextCountsThePsnsOfAnUnreliableConnection() {
    pair.a.context.set(QueuePairContext.NEXT_SEND_PSN, 0xff_ffff);
    connect(UC);
    pair.a.write(target, 0, new Piece(source, 0, 3000));
    assertThat(pair.a.query().get(QueuePairContext.NEXT_SEND_PSN)).isEqualTo(2);
    assertThat(pair.b.query().get(QueuePairContext.NEXT_RECEIVE_PSN)).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource({"1, 10", "1, 11", "1, 12", "3, 08", "3, 09", "3, 10", "3, 11", "3, 12", "3, 18"})
  void unsupportedOperationOfAServiceIsAnOperationError(int service, String opcode) {
    connect(service);
    int wqe =
        pair.a.atomic(
            Integer.parseInt(opcode, 16),
            target.address(),
            target.key(),
            0,
            0,
            new Piece(source, 0, 8));
    sendFails(wqe, LOCAL_QP_OPERATION);
    assertThat(pair.a.state()).isEqualTo(SQE);
  }

  @Test
  void sqerr2rtsRecoversFromAnErrorOfASend() {
    connect(UC);
    int slot = pair.a.receive(new Piece(source, 0, 8));
    Host.Buffer other = pair.left.buffer(4096, Host.ALL);
    pair.left.must(HcrCommand.HW2SW_MPT, 0, other.key());
    sendFails(pair.a.send(new Piece(other, 0, 8)), LOCAL_PROTECTION);
    assertThat(pair.a.state()).isEqualTo(SQE);
    sendFails(pair.a.send(new Piece(source, 0, 8)), FLUSHED);
    sendFails(pair.a.write(target, 0, new Piece(source, 0, 8)), FLUSHED);
    pair.b.send(new Piece(target, 0, 8));
    assertThat(pair.a.cq.take().wqe()).isEqualTo(slot);
    assertThat(pair.a.state()).isEqualTo(SQE);
    assertThat(pair.a.modify(HcrCommand.SQERR2RTS, RTS)).isZero();
    pair.b.receive(new Piece(target, 0, 8));
    pair.a.send(new Piece(source, 0, 8));
    assertThat(pair.a.cq.take().failed()).isFalse();
    assertThat(pair.b.cq.take().failed()).isFalse(); // its own send
    assertThat(pair.b.cq.take().failed()).isFalse();
    assertThat(pair.a.cq.hasNext()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {UC, UD})
  void sendsWaitInSqd(int service) {
    connect(service);
    assertThat(pair.a.modify(HcrCommand.RTS2SQD, SQD)).isZero();
    pair.b.receive(new Piece(target, 0, 100));
    Piece data = new Piece(source, 0, 8);
    int wqe =
        service == UD ? pair.a.datagram(pair.right, pair.b, SEND, 0, data) : pair.a.send(data);
    assertThat(pair.a.cq.hasNext()).isFalse();
    assertThat(pair.leftHca().counters().packetsSent()).isZero();
    assertThat(pair.a.modify(HcrCommand.SQD2RTS, RTS)).isZero();
    assertThat(pair.a.cq.take())
        .isEqualTo(new Completion(pair.a.number, SEND, true, 8, wqe, pair.b.number, 0));
    assertThat(pair.b.cq.take().failed()).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"1, 3", "1, 4", "1, 5", "3, 3", "3, 4", "3, 5"})
  void errFlushesBothQueuesInOrder(int service, int from) {
    connect(service);
    if (from == SQE) {
      sendFails(pair.a.read(target, 0, new Piece(source, 0, 8)), LOCAL_QP_OPERATION);
    } else if (from == SQD) {
      pair.a.modify(HcrCommand.RTS2SQD, SQD);
    }
    int first = from == SQD ? pair.a.send() : -1;
    int second = from == SQD ? pair.a.send() : -1;
    int[] slots = {pair.a.receive(), pair.a.receive()};
    assertThat(pair.a.cq.hasNext()).isFalse();
    assertThat(pair.a.modify(HcrCommand.ANY2ERR, ERR)).isZero();
    if (from == SQD) {
      sendFails(first, FLUSHED);
      sendFails(second, FLUSHED);
    }
    for (int slot : slots) {
      assertThat(pair.a.cq.take())
          .isEqualTo(new Completion(pair.a.number, 0xff, false, 0, slot, 0, FLUSHED));
    }
    sendFails(pair.a.send(), FLUSHED);
    assertThat(pair.a.cq.hasNext()).isFalse();
  }

  @Test
  void oneQueuePairExchangesDatagramsWithSeveral() {
    Host.Qp hub = datagrams(pair.left);
    Host.Qp[] peers = {datagrams(pair.right), datagrams(pair.left), datagrams(pair.right)};
    Host[] hosts = {pair.right, pair.left, pair.right};
    Host.Buffer[] buffers = {target, pair.left.buffer(4096, Host.ALL), target};
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < peers.length; i++) {
        Host.Qp peer = peers[i];
        int slot = peer.receive(new Piece(buffers[i], 1000L * i, 100));
        hub.datagram(hosts[i], peer, SEND_IMM, i, new Piece(source, i, 60));
        assertThat(hub.cq.take().failed()).isFalse();
        assertThat(peer.cq.take())
            .isEqualTo(new Completion(peer.number, 5, false, 100, slot, hub.number, i));
        same(source.memory(), i, buffers[i].memory(), 1000L * i + 40, 60);
        peer.clearSlot(slot);

        int back = hub.receive(new Piece(source, 8192, 100));
        peer.datagram(pair.left, hub, SEND, 0, new Piece(buffers[i], 1000L * i + 40, 60));
        assertThat(peer.cq.take().failed()).isFalse();
        assertThat(hub.cq.take())
            .isEqualTo(new Completion(hub.number, 4, false, 100, back, peer.number, 0));
        same(source.memory(), i, source.memory(), 8192 + 40, 60);
        hub.clearSlot(back);
      }
    }
  }

  @Test
  void emptyDatagramHasFortyBytes() {
    connect(UD);
    target.memory().fill((byte) 0x55);
    pair.b.receive(new Piece(target, 0, 40));
    pair.a.datagram(pair.right, pair.b, SEND, 0);
    assertThat(pair.a.cq.take().bytes()).isZero();
    assertThat(pair.b.cq.take().bytes()).isEqualTo(40);
    assertThat(target.memory().get(ValueLayout.JAVA_BYTE, 39)).isNotEqualTo((byte) 0x55);
    assertThat(target.memory().get(ValueLayout.JAVA_BYTE, 40)).isEqualTo((byte) 0x55);
  }

  @Test
  void headerNamesBothEnds() {
    connect(UD);
    pair.b.receive(new Piece(target, 0, 100));
    pair.a.datagram(pair.right, pair.b, SEND, 0, new Piece(source, 0, 8));
    pair.b.cq.take();
    ValueLayout.OfInt ip = ValueLayout.JAVA_INT_UNALIGNED.withOrder(java.nio.ByteOrder.BIG_ENDIAN);
    assertThat(target.memory().get(ip, 32)).isEqualTo(pair.left.address.ip());
    assertThat(target.memory().get(ip, 36)).isEqualTo(pair.right.address.ip());
    assertThat(target.memory().get(ip, 20)).isEqualTo(0x4500_0000 + 20 + 8 + 12 + 8 + 8 + 4);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 12, 28, 444})
  void datagramsMayBeInline(int length) {
    connect(UD);
    int slot = pair.b.receive(new Piece(target, 0, 1000));
    pair.a.post(
        SEND,
        0,
        4 + (4 + length + 15) / 16,
        units -> {
          pair.a.address(units, pair.right, pair.b, pair.b.context.get(QueuePairContext.QKEY));
          InlineUnit.writeHeader(units, 48, length);
          MemorySegment.copy(source.memory(), 5, units, 52, length);
        });
    assertThat(pair.a.cq.take().bytes()).isEqualTo(length);
    assertThat(pair.b.cq.take())
        .isEqualTo(new Completion(pair.b.number, 4, false, 40 + length, slot, pair.a.number, 0));
    same(source.memory(), 5, target.memory(), 40, length);
  }

  @Test
  void workRequestWithoutItsUnitIsAnOperationError() {
    connect(UD);
    sendFails(pair.a.send(new Piece(source, 0, 8)), LOCAL_QP_OPERATION);
  }

  @Test
  void datagramWithAnotherQkeyIsDropped() {
    connect(UD);
    pair.b.receive(new Piece(target, 0, 100));
    pair.a.post(SEND, 0, 4, units -> pair.a.address(units, pair.right, pair.b, 0x77));
    assertThat(pair.a.cq.take().failed()).isFalse();
    assertThat(pair.b.cq.hasNext()).isFalse();
    assertThat(pair.rightHca().counters().queueKeyViolations()).isEqualTo(1);
    assertThat(pair.rightHca().counters().packetsDropped()).isEqualTo(1);
    assertThat(pair.b.state()).isEqualTo(RTS);
  }

  @Test
  void dataUnitsFollowTheDestination() {
    connect(UD);
    pair.b.receive(new Piece(target, 0, 100));
    pair.a.post(
        SEND,
        0,
        6,
        units -> {
          pair.a.address(units, pair.right, pair.b, pair.b.context.get(QueuePairContext.QKEY));
          DataUnit.write(units, 48, 3, source.key(), source.address() + 1);
          DataUnit.write(units, 64, 5, source.key(), source.address() + 100);
        });
    assertThat(pair.b.cq.take().bytes()).isEqualTo(48);
    same(source.memory(), 1, target.memory(), 40, 3);
    same(source.memory(), 100, target.memory(), 43, 5);
  }
}

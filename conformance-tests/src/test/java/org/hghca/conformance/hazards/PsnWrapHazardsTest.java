package org.hghca.conformance.hazards;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.stream.LongStream;
import org.hghca.conformance.hazards.BusyCards.Kind;
import org.hghca.conformance.hazards.BusyCards.Lane;
import org.hghca.conformance.hazards.BusyCards.Load;
import org.hghca.conformance.profile.TestTime;
import org.hghca.driver.HghcaContext;
import org.hghca.driver.PsnUse;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AsyncEvent;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.Completions;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WcStatus;
import org.hghca.verbs.WrapMemory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** No SEND or WRITE of a connection has PSN FFFFFFh, which the first RTL does not survive. */
class PsnWrapHazardsTest {
  private static final int LAST = 0xff_ffff;
  private static final int VENDOR_ERROR = 0x101;
  private static final Duration LIMIT = TestTime.seconds(20);
  private static final ConnectionOptions NEVER_TIMED_OUT = ConnectionOptions.DEFAULT.withTimeout(0);

  private static void connect(
      LoopedCard card,
      QueuePair one,
      QueuePair other,
      int onePsn,
      int otherPsn,
      ConnectionOptions options) {
    one.modify(options.toInit(one.type()));
    other.modify(options.toInit(one.type()));
    lead(options, one, endpoint(card, other, otherPsn));
    lead(options, other, endpoint(card, one, onePsn));
    one.modify(options.toRts(one.type(), onePsn));
    other.modify(options.toRts(one.type(), otherPsn));
  }

  private static QpEndpoint endpoint(LoopedCard card, QueuePair qp, int psn) {
    Gid gid = card.card.context.queryGid(1, 0);
    return new QpEndpoint(0, qp.number(), psn, gid, qp.offerWrapMemory());
  }

  private static void lead(ConnectionOptions options, QueuePair qp, QpEndpoint peer) {
    peer.wrapMemory().ifPresent(qp::takeWrapMemory);
    qp.modify(options.toRtr(qp.type(), peer));
  }

  private static PsnUse psns(LoopedCard card) {
    return ((HghcaContext) card.card.context).card().psns();
  }

  /** Both sides pass it, one after the other, with all kinds of requests around it. */
  @ParameterizedTest
  @CsvSource({
    "0, MTU_256, 3000", "1, MTU_256, 3000", "5, MTU_256, 3000", "11, MTU_256, 3000",
    "0, MTU_1024, 4000", "1, MTU_1024, 4000", "3, MTU_1024, 4000", "0, MTU_4096, 4096",
    "9, MTU_512, 8000"
  })
  @Tag("hazard-12.21")
  void connectionPassesTheWrap(int before, Mtu mtu, int bytes) {
    try (LoopedCard card = new LoopedCard()) {
      QueuePair one = card.queuePair();
      QueuePair other = card.queuePair();
      connect(card, one, other, LAST - before, LAST - before, NEVER_TIMED_OUT.withPathMtu(mtu));
      List<QueuePair> both = List.of(one, other);
      for (int side = 0; side < 2; side++) {
        QueuePair qp = both.get(side);
        QueuePair peer = both.get(1 - side);
        for (int i = 0; i < 12; i++) {
          card.target.segment().fill((byte) 0);
          boolean sends = i % 3 == 0;
          if (sends) {
            peer.postReceive(card.into(0, bytes).wrId(i));
          }
          qp.postSend((sends ? card.send(bytes) : card.write(0, bytes)).wrId(i));
          card.await(sends ? 2 : 1);
          card.assertArrived(0, bytes);
          qp.postSend(card.read(8192, 600).wrId(i));
          card.await(1);
          card.assertArrived(8192, 600);
        }
      }
      assertThat(psns(card).carriedWraps() + psns(card).carryingReads()).isPositive();
      card.assertAlive();
    }
  }

  /** The program polls nothing, and its completion queue has no entry to spare. */
  @Test
  @Tag("hazard-12.21")
  void wrapNeedsNoPollingAndNoEntry() {
    try (LoopedCard card = new LoopedCard()) {
      QueuePair one = card.queuePair();
      QueuePair other = card.queuePair();
      connect(card, one, other, LAST - 40, 0, NEVER_TIMED_OUT.withPathMtu(Mtu.MTU_256));
      for (int i = 0; i < 32; i++) {
        one.postSend(card.write(0, 700).wrId(i));
      }
      List<Long> expected = new ArrayList<>();
      for (long i = 0; i < 32; i++) {
        expected.add(i);
      }
      assertThat(card.await(32)).isEqualTo(expected);
      assertThat(psns(card).carriedWraps()).isOne();
      card.assertAlive();
    }
  }

  @ParameterizedTest
  @CsvSource({"&wrap=off", "''"})
  @Tag("hazard-12.21")
  void queuePairWithoutMemoryEndsBeforeTheLastPsn(String parameters) {
    try (LoopedCard card = new LoopedCard(parameters)) {
      QueuePair one = card.queuePair();
      QueuePair other = card.queuePair();
      assertThat(one.offerWrapMemory().isPresent()).isEqualTo(parameters.isEmpty());
      ConnectionOptions options = NEVER_TIMED_OUT.withPathMtu(Mtu.MTU_1024);
      LoopedCard.connect(card.queuePair(), card.queuePair());
      withoutMemory(card, options, one, other, LAST - 2);
      for (int i = 0; i < 6; i++) {
        one.postSend(card.write(0, 64).wrId(i));
      }
      List<String> ended = awaitAll(card, 6);
      assertThat(ended)
          .containsExactly(
              "0 SUCCESS 0",
              "1 SUCCESS 0",
              "2 %s %d".formatted(WcStatus.LOC_QP_OP_ERR, VENDOR_ERROR),
              "3 WR_FLUSH_ERR 0",
              "4 WR_FLUSH_ERR 0",
              "5 WR_FLUSH_ERR 0");
      assertThat(one.state()).isEqualTo(QpState.ERR);
      assertThat(psns(card).ended()).isOne();
      Optional<AsyncEvent> event = card.card.context.asyncEvents().poll();
      assertThat(event.map(AsyncEvent::type)).contains(AsyncEventType.QP_LAST_WQE_REACHED);
      event.orElseThrow().acknowledge();
      card.assertAlive();
    }
  }

  private static void withoutMemory(
      LoopedCard card, ConnectionOptions options, QueuePair one, QueuePair other, int psn) {
    Gid gid = card.card.context.queryGid(1, 0);
    one.modify(options.toInit(one.type()));
    other.modify(options.toInit(one.type()));
    one.modify(options.toRtr(one.type(), new QpEndpoint(0, other.number(), 0, gid)));
    other.modify(options.toRtr(one.type(), new QpEndpoint(0, one.number(), psn, gid)));
    one.modify(options.toRts(one.type(), psn));
    other.modify(options.toRts(one.type(), 0));
  }

  private static List<String> awaitAll(LoopedCard card, int count) {
    List<String> ended = new ArrayList<>();
    Completions found = new Completions(16);
    long start = System.nanoTime();
    while (ended.size() < count && System.nanoTime() - start < 20_000_000_000L) {
      card.settle();
      for (int n = card.cq.poll(found); n > 0; n = card.cq.poll(found)) {
        for (int i = 0; i < n; i++) {
          ended.add("%d %s %d".formatted(found.wrId(i), found.status(i), found.vendorError(i)));
        }
      }
    }
    return ended;
  }

  /** They end one after another, and the card stays alive. */
  @Test
  @Tag("hazard-12.21")
  void hundredQueuePairsEndBeforeTheLastPsn() {
    try (LoopedCard card = new LoopedCard("&wrap=off")) {
      for (int i = 0; i < 100; i++) {
        QueuePair one = card.queuePair();
        QueuePair other = card.queuePair();
        withoutMemory(card, NEVER_TIMED_OUT, one, other, LAST - 1);
        one.postSend(card.write(0, 64).wrId(1));
        SendRequest last = card.write(0, 64).wrId(2);
        one.postSend(last);
        assertThat(awaitAll(card, 2))
            .as("queue pair %d", i)
            .containsExactly("1 SUCCESS 0", "2 LOC_QP_OP_ERR 257");
        other.close();
        if (i % 2 == 0) {
          one.close();
        }
      }
      assertThat(psns(card).ended()).isEqualTo(100);
      card.assertAlive();
    }
  }

  /** What ends a queue pair while a READ that carries its PSN has no answer. */
  enum End {
    ERR,
    CLOSE,
    TIME_OUT
  }

  /** The READ before the first request has no answer. */
  @ParameterizedTest
  @EnumSource(End.class)
  @Tag("hazard-12.21")
  void queuePairEndsWhileACarryingReadIsOut(End end) throws InterruptedException {
    try (LoopedCard card = new LoopedCard()) {
      QueuePair one = card.queuePair();
      QueuePair other = card.queuePair();
      connect(card, one, other, LAST, 0, NEVER_TIMED_OUT.withTimeout(end == End.TIME_OUT ? 1 : 0));
      card.card.hca.holdDoorbells(true);
      for (int i = 0; i < 3; i++) {
        one.postSend(card.write(0, 700).wrId(i));
      }
      assertThat(psns(card).carryingReads()).isOne();
      if (end != End.TIME_OUT) {
        Thread ender =
            Thread.ofPlatform()
                .start(
                    end == End.ERR ? () -> one.modify(QpAttributes.to(QpState.ERR)) : one::close);
        await(() -> end == End.CLOSE || one.state() == QpState.ERR);
        await(() -> isBlocked(ender));
        card.card.hca.holdDoorbells(false);
        ender.join(LIMIT);
        assertThat(ender.isAlive()).isFalse();
      }
      if (end != End.CLOSE) {
        String first = end == End.ERR ? "0 WR_FLUSH_ERR 0" : "0 RETRY_EXC_ERR 256";
        assertThat(awaitAll(card, 3))
            .containsExactly(first, "1 WR_FLUSH_ERR 0", "2 WR_FLUSH_ERR 0");
        assertThat(one.state()).isEqualTo(QpState.ERR);
        card.card.hca.holdDoorbells(false);
        card.settle();
        assertThat(card.target.segment().get(ValueLayout.JAVA_LONG, 0)).as("written").isZero();
      }
      card.assertAlive();
    }
  }

  private static boolean isBlocked(Thread thread) {
    return thread.getState() != Thread.State.RUNNABLE && thread.getState() != Thread.State.NEW;
  }

  private static void await(BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - start).isLessThan(LIMIT.toNanos());
      Thread.onSpinWait();
    }
  }

  /** The next connection of the queue pair starts at the wrap as well. */
  @Test
  @Tag("hazard-12.21")
  void resetQueuePairPassesTheWrapAgain() {
    try (LoopedCard card = new LoopedCard()) {
      QueuePair one = card.queuePair();
      QueuePair other = card.queuePair();
      for (int life = 1; life <= 3; life++) {
        connect(card, one, other, LAST - life, LAST, NEVER_TIMED_OUT.withPathMtu(Mtu.MTU_256));
        for (int i = 0; i < 4; i++) {
          card.target.segment().fill((byte) 0);
          one.postSend(card.write(0, 700).wrId(i));
          card.await(1);
          card.assertArrived(0, 700);
        }
        assertThat(psns(card).carriedWraps()).isEqualTo(life);
        one.modify(QpAttributes.to(QpState.RESET));
        other.modify(QpAttributes.to(QpState.RESET));
      }
      card.assertAlive();
    }
  }

  /** The memory of a request that waits for a READ is as much in use as that of one on the card. */
  @Test
  @Tag("hazard-12.21")
  void memoryStaysWhileItsRequestWaitsForACarryingRead() {
    try (LoopedCard card = new LoopedCard()) {
      QueuePair one = card.queuePair();
      QueuePair other = card.queuePair();
      connect(card, one, other, LAST, 0, NEVER_TIMED_OUT);
      card.card.hca.holdDoorbells(true);
      try (MemoryRegion memory = card.pd.allocate(64, AccessFlag.LOCAL_WRITE)) {
        one.postSend(card.write(0, 0).sge(memory, 0, 64));
        assertThatThrownBy(memory::close)
            .isInstanceOfSatisfying(
                VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY));
        assertThat(psns(card).carryingReads()).isOne();
        card.card.hca.holdDoorbells(false);
        card.await(1);
      }
      card.assertAlive();
    }
  }

  /** With several requests of a queue pair in the card, the READs go alone all the same. */
  @ParameterizedTest
  @ValueSource(ints = {1, 8})
  @Tag("hazard-12.21")
  void requestsBeforeAndAfterTheWrapStayInOrder(int outstanding) {
    try (LoopedCard card = new LoopedCard("&outstanding=" + outstanding)) {
      QueuePair one = card.queuePair();
      QueuePair other = card.queuePair();
      connect(card, one, other, LAST - 31, 0, NEVER_TIMED_OUT.withPathMtu(Mtu.MTU_256));
      for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 16; i++) {
          one.postSend(card.write(1024L * i, 700).wrId(i));
        }
        assertThat(card.await(16)).isEqualTo(LongStream.range(0, 16).boxed().toList());
        for (int i = 0; i < 16; i++) {
          card.assertArrived(1024L * i, 700);
        }
        card.target.segment().fill((byte) 0);
      }
      assertThat(psns(card).carriedWraps()).isOne();
      card.assertAlive();
    }
  }

  /** The peer's key is good for the constant bytes of the offer, and for no other access. */
  @ParameterizedTest
  @CsvSource({
    "READ, 0, 4096, SUCCESS",
    "READ, -32, 64, SUCCESS", // the card has no lower bound, and the page repeats below 0
    "READ, -64, 4096, SUCCESS",
    "READ, -4096, 64, GENERAL_ERR",
    "READ, 4033, 64, GENERAL_ERR",
    "READ, 4096, 32, GENERAL_ERR",
    "WRITE, 0, 64, GENERAL_ERR",
    "WRITE, 4096, 64, GENERAL_ERR"
  })
  @Tag("hazard-12.21")
  void offeredKeyReachesNothingElse(Kind kind, long address, int bytes, WcStatus status) {
    try (BusyCards cards = new BusyCards()) {
      cards.connect(Load.mixed(64, 1), Load.mixed(64, 1), Mtu.MTU_4096, 0);
      Lane lane = cards.lanes().getFirst();
      WrapMemory offer = cards.lanes().get(1).qp.offerWrapMemory().orElseThrow();
      Completions done = new Completions(1);
      try (MemoryRegion own = lane.from.pd.allocate(4096, AccessFlag.LOCAL_WRITE)) {
        own.segment().fill((byte) 0x5c);
        SendRequest request = new SendRequest();
        lane.qp.postSend(
            (kind == Kind.READ
                    ? request.rdmaRead(address, offer.rkey())
                    : request.rdmaWrite(address, offer.rkey()))
                .sge(own, 0, bytes));
        await(() -> lane.from.cq.poll(done) == 1);
        assertThat(done.status(0)).isEqualTo(status);
        byte[] expected = new byte[4096];
        Arrays.fill(expected, status == WcStatus.SUCCESS ? bytes : 0, 4096, (byte) 0x5c);
        assertThat(own.segment().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(expected);
      }
    }
  }

  /** Each domain has a key of its own, and it is gone with the domain. */
  @Test
  void memoryIsThatOfTheDomain() {
    try (LoopedCard card = new LoopedCard()) {
      WrapMemory first = card.a.offerWrapMemory().orElseThrow();
      assertThat(card.b.offerWrapMemory()).contains(first);
      assertThat(first.length()).isEqualTo(LoopedCard.PAGE);
      assertThat(first.address()).isZero();
    }
  }
}

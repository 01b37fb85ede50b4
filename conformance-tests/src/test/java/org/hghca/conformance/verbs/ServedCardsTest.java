package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.SplittableRandom;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AsyncEvent;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.Gid;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The whole driver on cards that another process could serve: everything passes through sockets.
 */
final class ServedCardsTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);

  /** A long interval of the sweep for lost interrupts. */
  private static final Duration SWEEP = Duration.ofMillis(500);

  private static final int BYTES = 1 << 16;

  @TempDir Path directory;

  /** Long: two processors may be busy while a message takes many steps. */
  private static RcSetup setup() {
    int seventeenSeconds = 22; // 4.096 us times 2^22
    return new RcSetup().retries(12, 7, seventeenSeconds, 7);
  }

  @Test
  void addressesAreThoseOfTheServedCards() {
    try (ServedCards cards = new ServedCards(directory);
        Fabric fabric = cards.open("")) {
      long guid = Gid.eui64(cards.leftHca.address().mac());
      assertThat(fabric.left().device().nodeGuid()).isEqualTo(guid);
      assertThat(fabric.left().queryDevice().nodeGuid()).isEqualTo(guid);
      assertThat(fabric.right().queryDevice().nodeGuid())
          .isEqualTo(Gid.eui64(cards.rightHca.address().mac()));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "?posted=false"})
  void dataMovesEachWayByEachOperation(String parameters) {
    try (ServedCards cards = new ServedCards(directory);
        RcPair pair = setup().bufferSize(BYTES).on(cards.open(parameters))) {
      SplittableRandom random = new SplittableRandom(5);
      for (int i = 0; i < 20; i++) {
        move(pair.left, pair.right, random);
        move(pair.right, pair.left, random);
      }
      pair.left.assertQuiet();
      pair.right.assertQuiet();
    }
  }

  /** SEND, RDMA WRITE and RDMA READ of the whole buffer. */
  private static void move(Side from, Side to, SplittableRandom random) {
    from.randomize(0, BYTES, random);
    to.postReceive(1, 0, BYTES);
    to.expect(0, from, 0, BYTES);
    from.qp.postSend(from.send.send().wrId(2).sge(from.buffer, 0, BYTES).signaled());
    Side.assertSuccess(from.sent());
    Side.assertSuccess(to.received());
    to.verify("SEND");

    from.randomize(0, BYTES, random);
    to.expect(0, from, 0, BYTES);
    from.qp.postSend(
        from.send.rdmaWrite(to.address(0), to.buffer.rkey()).sge(from.buffer, 0, BYTES).signaled());
    Side.assertSuccess(from.sent());
    to.verify("RDMA WRITE");

    from.randomize(0, BYTES, random);
    to.expect(0, from, 0, BYTES);
    to.qp.postSend(
        to.send.rdmaRead(from.address(0), from.buffer.rkey()).sge(to.buffer, 0, BYTES).signaled());
    Side.assertSuccess(to.sent());
    to.verify("RDMA READ");
  }

  @Test
  void memoryOfAnArenaIsReachedByMessages() {
    try (ServedCards cards = new ServedCards(directory);
        RcPair pair = setup().on(cards.open(""));
        Arena arena = Arena.ofShared()) {
      // Aligned first: an R1 card stops at some offsets within a page.
      MemorySegment source = arena.allocate(3 * 4096 + 100, 4096).asSlice(100);
      MemorySegment target = arena.allocate(3 * 4096 + 200, 4096).asSlice(200);
      for (int i = 0; i < source.byteSize(); i++) {
        source.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7));
      }
      MemoryRegion from = pair.left.pd.register(source, AccessFlag.LOCAL_WRITE);
      MemoryRegion into =
          pair.right.pd.register(target, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
      for (int i = 0; i < 10; i++) {
        target.fill((byte) 0);
        pair.left.qp.postSend(pair.left.write(into).sge(from, 0, source.byteSize()).signaled());
        Side.assertSuccess(pair.left.sent());
        assertThat(target.mismatch(source)).isEqualTo(-1);
      }
      into.close();
      from.close();
    }
  }

  @Test
  void hundredMessagesEachRaiseAnEvent() throws Exception {
    try (ServedCards cards = new ServedCards(directory);
        RcPair pair = setup().channel().on(cards.open(""))) {
      pair.right.receiveQueue.requestNotify(false);
      int quick = 0;
      for (int i = 0; i < 100; i++) {
        long start = System.nanoTime();
        pair.right.postReceive(i, 0, 64);
        pair.left.qp.postSend(
            pair.left.send.send().wrId(i).sge(pair.left.buffer, 0, 64).signaled());
        assertThat(pair.right.channel.await(LIMIT)).containsSame(pair.right.receiveQueue);
        pair.right.receiveQueue.requestNotify(false);
        assertThat(Wc.drain(pair.right.receiveQueue))
            .extracting(Wc::wrId)
            .containsExactly((long) i);
        Side.assertSuccess(pair.left.sent());
        quick += System.nanoTime() - start < SWEEP.toNanos() ? 1 : 0;
      }
      // The interrupts delivered them, not the sweep for lost ones.
      assertThat(quick).isGreaterThan(50);
    }
  }

  @Test
  void eachClientFindsAFreshCard() {
    try (ServedCards cards = new ServedCards(directory)) {
      for (int i = 0; i < 3; i++) {
        try (RcPair pair = setup().on(cards.open(""))) {
          pair.left.qp.postSend(pair.write(0).sge(pair.left.buffer, 0, 64).signaled());
          Side.assertSuccess(pair.left.sent());
        }
      }
      assertThat(cards.left.clients()).isEqualTo(3);
    }
  }

  @Test
  void serverThatEndsDuringTrafficIsAFatalEvent() throws Exception {
    try (ServedCards cards = new ServedCards(directory)) {
      RcPair pair = setup().on(cards.open(""));
      write(pair);
      Side.assertSuccess(pair.left.sent());
      cards.left.close();
      AsyncEvent event = Events.await(pair.fabric.left());
      assertThat(event.type()).isEqualTo(AsyncEventType.DEVICE_FATAL);
      event.acknowledge();
      assertThatThrownBy(() -> pair.left.pd.allocate(64, AccessFlag.LOCAL_WRITE))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("the server closed the connection");
      assertThatThrownBy(() -> write(pair)).isInstanceOf(VerbsException.class);
      // All of it can be closed, and the other card continues to work.
      pair.left.close();
      pair.right.close();
      pair.fabric.left().close();
      pair.fabric.right().close();
    }
  }

  private static void write(RcPair pair) {
    pair.left.qp.postSend(pair.write(0).sge(pair.left.buffer, 0, 64).signaled());
  }
}

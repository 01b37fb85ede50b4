package org.hghca.conformance.hazards;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.conformance.hazards.LoopedCard.PAGE;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.hghca.verbs.Completions;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Measured failures of the first RTL in ordinary use, which the driver avoids or detects: requests
 * one at a time, no chains, no fences, no receives without data unit, receives used in order, short
 * READs, and RESET or ERR only for idle queue pairs.
 */
class MeasuredHazardsTest {
  /** Limit for anything that the driver does by itself. */
  private static final Duration LIMIT = Duration.ofSeconds(20);

  private static List<Long> numbers(int from, int count) {
    return LongStream.range(from, from + count).boxed().toList();
  }

  @Test
  @Tag("hazard-5.3")
  void receivesAreUsedInOrderForMessagesOfAnyLength() {
    try (LoopedCard it = new LoopedCard()) {
      int[] lengths = {64, 3000, 5000, 64, 2049, 1};
      for (int i = 0; i < lengths.length; i++) {
        it.b.postReceive(it.into(2L * i * PAGE, 2L * PAGE).wrId(100 + i));
      }
      for (int i = 0; i < lengths.length; i++) {
        it.a.postSend(it.send(lengths[i]).wrId(i));
        it.settle();
      }
      List<Long> done = it.await(2 * lengths.length);
      assertThat(done).filteredOn(id -> id >= 100).isEqualTo(numbers(100, lengths.length));
      assertThat(done).filteredOn(id -> id < 100).isEqualTo(numbers(0, lengths.length));
      for (int i = 0; i < lengths.length; i++) {
        it.assertArrived(2L * i * PAGE, lengths[i]);
      }
      it.assertAlive();
    }
  }

  @Test
  @Tag("hazard-12.13")
  void receivesForImmediatesDoNotAffectOthers() {
    try (LoopedCard it = new LoopedCard()) {
      it.b.postReceive(it.into(0, 64).wrId(100));
      it.b.postReceive(new ReceiveRequest().wrId(101));
      it.b.postReceive(new ReceiveRequest().sge(it.target, 64, 0).wrId(102));
      it.b.postReceive(it.into(PAGE, 64).wrId(103));
      it.a.postSend(it.send(64).wrId(0));
      it.settle();
      for (int i = 1; i <= 2; i++) {
        it.a.postSend(
            new SendRequest()
                .rdmaWriteWithImmediate(it.target.address() + 4L * PAGE, it.target.rkey(), 7)
                .sge(it.source, 0, 64)
                .wrId(i));
        it.settle();
      }
      it.a.postSend(it.send(40).wrId(3));
      assertThat(it.await(8)).filteredOn(id -> id >= 100).isEqualTo(numbers(100, 4));
      it.assertArrived(0, 64);
      it.assertArrived(PAGE, 40);
      it.assertArrived(4L * PAGE, 64);
      it.assertAlive();
    }
  }

  @Test
  @Tag("hazard-12.19")
  void emptyElementBehindOthersIsNotAUnitWithoutRights() {
    try (LoopedCard it = new LoopedCard()) {
      it.b.postReceive(it.into(0, 40).sge(it.target, 64, 0));
      it.a.postSend(it.send(64));
      it.settle();
      it.expectHarm("12.4"); // it is still too long
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @Tag("hazard-12.20")
  void sendToADestroyedQueuePairFails(boolean closed) {
    try (LoopedCard it = new LoopedCard()) {
      it.a.postSend(it.write(0, 64).wrId(1));
      it.await(1);
      if (closed) {
        it.b.close();
      } else {
        it.b.modify(QpAttributes.to(QpState.RESET));
      }
      it.a.postSend(it.write(0, 5000).wrId(2));
      it.settle();
      Completions completions = new Completions(4);
      assertThat(it.cq.poll(completions)).isEqualTo(1);
      assertThat(completions.wrId(0)).isEqualTo(2);
      assertThat(completions.isSuccess(0)).isFalse();
      assertThat(it.a.state()).isEqualTo(QpState.ERR);
    }
  }

  @Test
  @Tag("hazard-12.14")
  void waitingListsAreExecutedInOrder() {
    try (LoopedCard it = new LoopedCard()) {
      it.card.hca.holdDoorbells(true);
      for (int list = 0; list < 3; list++) {
        int first = 4 * list;
        it.a.postSend(
            IntStream.range(first, first + 4)
                .mapToObj(i -> it.write(64L * i, 64).wrId(i))
                .toArray(SendRequest[]::new));
      }
      it.card.hca.holdDoorbells(false);
      assertThat(it.await(12)).isEqualTo(numbers(0, 12));
      it.assertAlive();
    }
  }

  @Test
  @Tag("hazard-12.15")
  void fencedRequestSendsTheDataOfTheReadBeforeIt() {
    try (LoopedCard it = new LoopedCard()) {
      it.b.postReceive(it.into(2L * PAGE, 64).wrId(100));
      it.card.hca.holdDoorbells(true);
      it.a.postSend(it.read(0, 64).wrId(0));
      it.a.postSend(
          new SendRequest()
              .rdmaWrite(it.target.address() + PAGE, it.target.rkey())
              .sge(it.target, 0, 64)
              .fence()
              .wrId(1));
      it.a.postSend(new SendRequest().send().sge(it.target, 0, 64).fence().wrId(2));
      it.card.hca.holdDoorbells(false);
      assertThat(it.await(4)).filteredOn(id -> id < 100).isEqualTo(numbers(0, 3));
      it.assertArrived(PAGE, 64);
      it.assertArrived(2L * PAGE, 64);
      it.assertAlive();
    }
  }

  @Test
  @Tag("hazard-12.16")
  void readsInFlightStayWithinTheCardsAnswerBuffer() {
    try (LoopedCard it = new LoopedCard("&deadlock=on")) {
      it.card.hca.holdDoorbells(true);
      it.b.postSend(it.write(8L * PAGE, 3000).wrId(0));
      it.a.postSend(it.read(0, 6000).wrId(1));
      it.card.hca.holdDoorbells(false);
      assertThat(it.await(2)).containsExactlyInAnyOrder(0L, 1L);
      it.assertArrived(0, 6000);
      it.assertArrived(8L * PAGE, 3000);
      it.assertAlive();
    }
  }

  @Test
  @Tag("hazard-12.17")
  void queuePairIsDestroyedAfterItsPacketsHaveLeft() throws InterruptedException {
    try (OneCard card = OneCard.r1();
        TwoQueuePairs pair = new TwoQueuePairs(card.context, 32)) {
      pair.connect(100, 200, 20);
      pair.receive(pair.right, 1, 1);
      card.hca.stallAfter(2);
      pair.send(pair.left, 2, 0, TwoQueuePairs.SLOT);
      Thread ender =
          Thread.ofPlatform().start(() -> pair.left.qp.modify(QpAttributes.to(QpState.ERR)));
      long start = System.nanoTime();
      while (ender.getState() == Thread.State.RUNNABLE || ender.getState() == Thread.State.NEW) {
        assertThat(System.nanoTime() - start).isLessThan(LIMIT.toNanos());
        Thread.onSpinWait();
      }
      card.hca.stallAfter(-1);
      ender.join(LIMIT);
      assertThat(ender.isAlive()).isFalse();
      assertThat(pair.left.qp.state()).isEqualTo(QpState.ERR);
      card.assertUnharmed();
    }
  }

  @Test
  @Tag("hazard-12.18")
  void oneRequestOfAQueuePairIsInFlight() {
    try (LoopedCard it = new LoopedCard("&race=on")) {
      it.card.hca.stallAfter(1);
      it.a.postSend(it.write(0, 3000).wrId(0));
      it.a.postSend(
          new SendRequest[] {it.write(PAGE, 64).wrId(1), it.write(2L * PAGE, 64).wrId(2)});
      it.card.hca.stallAfter(-1);
      assertThat(it.await(3)).isEqualTo(numbers(0, 3));
      it.a.postSend(
          new SendRequest[] {it.read(4L * PAGE, 64).wrId(3), it.read(5L * PAGE, 64).wrId(4)});
      assertThat(it.await(2)).isEqualTo(numbers(3, 2));
      it.assertAlive();
    }
  }
}

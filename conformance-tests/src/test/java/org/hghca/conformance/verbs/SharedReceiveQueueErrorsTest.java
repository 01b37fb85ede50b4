package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.profile.TestTime;
import org.hghca.verbs.AsyncEvent;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What errors, resets and destroyed queue pairs do to the requests of a shared receive queue: the
 * device's own, and one that the driver emulates.
 */
@Needs(Feature.SHARED_RECEIVE_QUEUES)
@ParameterizedClass
@ValueSource(strings = {"", SharedReceivers.DEALT})
class SharedReceiveQueueErrorsTest {
  /** Empty for the device's own queues, else the parameter that makes the driver deal. */
  @Parameter String path;

  private SharedReceivers inline(int capacity, int count) {
    return new SharedReceivers(Fabric.open(path), new RcSetup(), capacity, count, 64);
  }

  private static List<Long> range(long from, long end) {
    return LongStream.range(from, end).boxed().toList();
  }

  private static void toError(QueuePair qp) {
    qp.modify(QpAttributes.to(QpState.ERR));
  }

  private static int number(SharedReceivers it, int receiver) {
    return it.receivers.get(receiver).number();
  }

  @Test
  void messageThatIsTooLongFailsTheRequestThatTookIt() {
    try (SharedReceivers it = inline(8, 2)) {
      it.post(0, 8);
      it.send(0, 9, 0, 65);
      List<Wc> failed = it.received(1);
      assertThat(failed.getFirst().status()).isEqualTo(WcStatus.LOC_LEN_ERR);
      assertThat(failed.getFirst().wrId()).isZero();
      assertThat(failed.getFirst().qpNumber()).isEqualTo(number(it, 0));
      assertThat(it.sent(1).getFirst().status()).isEqualTo(WcStatus.REM_INV_REQ_ERR);
      it.fabric.settle();
      assertThat(Wc.drain(it.received)).as("nothing is flushed").isEmpty();
      assertThat(it.events(1)).containsExactly(AsyncEventType.QP_LAST_WQE_REACHED);
      // The other queue pairs get its requests.
      Set<Long> left = new HashSet<>(range(1, 8));
      for (int i = 1; i < 8; i++) {
        it.send(1);
        assertThat(left.remove(it.received(1).getFirst().wrId())).isTrue();
        it.sent(1);
      }
      assertThat(left).isEmpty();
    }
  }

  @Test
  void queuePairInErrReturnsItsRequestsInOrder() {
    try (SharedReceivers it = inline(8, 1)) {
      it.post(0, 8);
      toError(it.receivers.getFirst());
      it.fabric.settle();
      assertThat(Wc.drain(it.received)).isEmpty();
      assertThat(it.events(1)).containsExactly(AsyncEventType.QP_LAST_WQE_REACHED);
      it.fabric.settle();
      assertThat(Wc.drain(it.received)).isEmpty();
      assertThat(it.events()).isEmpty();
      assertThat(it.tryPost(8)).as("nothing was lost").isFalse();

      it.senders.add(
          it.leftPd.createQueuePair(it.setup.apply(QueuePairConfig.rc(it.sent, it.sent))));
      it.receivers.add(it.receiver());
      RcPair.connect(it.setup, it.senders.get(1), it.receivers.get(1));
      for (int i = 0; i < 8; i++) {
        it.send(1);
        assertThat(it.received(1).getFirst().wrId()).isEqualTo(i);
        it.sent(1);
      }
    }
  }

  @Test
  void requestIsCountedOnceHoweverOftenItIsDealt() {
    try (SharedReceivers it = inline(8, 2)) {
      it.post(0, 8);
      assertThat(it.fabric.right().counters().receivesPosted()).as("some wait").isEqualTo(8);
      toError(it.receivers.getFirst());
      it.fabric.settle();
      assertThat(Wc.drain(it.received)).isEmpty();
      it.send(1);
      it.received(1);
      it.post(0, 1);
      assertThat(it.fabric.right().counters().receivesPosted()).as("some again").isEqualTo(9);
      it.receivers.forEach(QueuePair::close);
      it.srq.close();
      assertThat(it.fabric.right().counters().receivesPosted()).as("all closed").isEqualTo(9);
    }
  }

  @Test
  void waitingProgramIsNotWokenForReturnedRequests() throws Exception {
    try (SharedReceivers it = inline(8, 1)) {
      it.post(0, 8);
      it.received.requestNotify(false);
      toError(it.receivers.getFirst());
      // No thread polls.
      AsyncEvent event = it.fabric.right().asyncEvents().await(TestTime.seconds(20)).orElseThrow();
      assertThat(event.type()).isEqualTo(AsyncEventType.QP_LAST_WQE_REACHED);
      event.acknowledge();
      assertThat(it.channel.await(TestTime.millis(50))).isEmpty();
      it.senders.add(
          it.leftPd.createQueuePair(it.setup.apply(QueuePairConfig.rc(it.sent, it.sent))));
      it.receivers.add(it.receiver());
      RcPair.connect(it.setup, it.senders.get(1), it.receivers.get(1));
      it.send(1);
      it.sent(1);
      assertThat(it.channel.await(TestTime.seconds(20))).containsSame(it.received);
      assertThat(Wc.drain(it.received)).extracting(Wc::wrId).containsExactly(0L);
    }
  }

  @Test
  void messagesReceivedBeforeAnErrorAreReported() {
    try (SharedReceivers it = inline(8, 1)) {
      it.post(0, 8);
      it.send(0);
      it.send(0);
      it.sent(2);
      toError(it.receivers.getFirst());
      it.fabric.settle();
      assertThat(it.received(2)).extracting(Wc::status).containsOnly(WcStatus.SUCCESS);
      assertThat(it.events(1)).containsExactly(AsyncEventType.QP_LAST_WQE_REACHED);
      it.post(0, 2);
      assertThat(it.tryPost(2)).isFalse();
    }
  }

  @Test
  void queuePairWithoutRequestsEndsAtOnce() {
    try (SharedReceivers it = inline(8, 2)) {
      toError(it.receivers.get(1));
      AsyncEvent event = it.fabric.right().asyncEvents().poll().orElseThrow();
      assertThat(event.type()).isEqualTo(AsyncEventType.QP_LAST_WQE_REACHED);
      assertThat(Events.object(event)).isSameAs(it.receivers.get(1));
      event.acknowledge();
      toError(it.receivers.get(1));
      assertThat(it.events()).isEmpty();
    }
  }

  @Test
  void failedSendEndsItsQueuePairAsWell() {
    try (SharedReceivers it = inline(8, 1)) {
      it.receivers
          .getFirst()
          .postSend(new SendRequest().rdmaWrite(0, 0xdead).sge(it.sink, 0, 8).signaled());
      assertThat(Wc.awaitOne(it.fabric, it.other).status()).isEqualTo(WcStatus.REM_ACCESS_ERR);
      assertThat(it.events(1)).containsExactly(AsyncEventType.QP_LAST_WQE_REACHED);
    }
  }

  @Test
  void resetQueuePairReturnsItsRequestsAndReceivesAgain() {
    try (SharedReceivers it = inline(8, 1)) {
      for (int round = 0; round < 20; round++) {
        it.post(0, 8);
        // Three messages that are not reported.
        for (int i = 0; i < 3; i++) {
          it.send(0);
        }
        it.sent(3);
        it.receivers.getFirst().modify(QpAttributes.to(QpState.RESET));
        it.senders.getFirst().modify(QpAttributes.to(QpState.RESET));
        assertThat(Wc.drain(it.received)).isEmpty();
        assertThat(it.tryPost(8)).as("all eight are there").isFalse();
        RcPair.connect(it.setup, it.senders.getFirst(), it.receivers.getFirst());
        List<Long> again = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
          it.send(0);
          again.add(it.received(1).getFirst().wrId());
          it.sent(1);
        }
        // The device's queue has the three posted again, behind the others.
        List<Long> order = new ArrayList<>(range(3, 8));
        order.addAll(range(0, 3));
        boolean dealt = SharedReceivers.areDealt(it.fabric.right());
        assertThat(again).isEqualTo(dealt ? range(0, 8) : order);
        assertThat(it.events()).isEmpty();
      }
    }
  }

  @Test
  void closedQueuePairReturnsItsRequestsToTheOthers() {
    try (SharedReceivers it = inline(4, 2)) {
      it.post(0, 2);
      it.receivers.get(0).close();
      it.send(1);
      it.send(1);
      assertThat(it.received(2)).extracting(Wc::wrId).containsExactlyInAnyOrder(0L, 1L);
    }
  }

  @Test
  void requestsWaitForTheFirstQueuePair() {
    try (SharedReceivers it = inline(4, 0)) {
      it.post(0, 4);
      assertThat(it.tryPost(4)).isFalse();
      it.senders.add(
          it.leftPd.createQueuePair(it.setup.apply(QueuePairConfig.rc(it.sent, it.sent))));
      it.receivers.add(it.receiver());
      QueuePair receiver = it.receivers.getFirst();
      receiver.modify(ConnectionOptions.DEFAULT.toInit(receiver.type()));
      receiver.modify(QpAttributes.to(QpState.RESET));
      RcPair.connect(it.setup, it.senders.getFirst(), receiver);
      it.send(0);
      assertThat(it.received(1).getFirst().wrId()).isZero();
    }
  }
}

package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.LongAdder;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.Completions;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Threads post to a shared receive queue and poll, while queue pairs fail, are reset, closed and
 * recreated: each request completes once or is still posted at the end.
 */
@Needs(Feature.SHARED_RECEIVE_QUEUES)
class SharedReceiveConcurrencyTest {
  private static final int CAPACITY = 48;
  private static final int PAIRS = 6;
  private static final int CHANGES = 150;
  private static final int FREE = 0;
  private static final int POSTED = 1;

  private final AtomicBoolean over = new AtomicBoolean();
  private final AtomicIntegerArray requests = new AtomicIntegerArray(CAPACITY);
  private final LongAdder received = new LongAdder();

  private void post(SharedReceivers it, int from, int end) {
    ReceiveRequest request = new ReceiveRequest();
    while (!over.get()) {
      for (int i = from; i < end; i++) {
        if (requests.compareAndSet(i, FREE, POSTED)
            && !it.srq.tryPostReceive(request.wrId(i).into(it.sink, 64L * i, 64))) {
          throw new AssertionError("no room for request %d of %d".formatted(i, CAPACITY));
        }
      }
      Thread.yield();
    }
  }

  /** Polls completions; capacity is released before the request number. */
  private int take(SharedReceivers it, Completions completions) {
    int count = it.received.poll(completions);
    for (int i = 0; i < count; i++) {
      int wrId = (int) completions.wrId(i);
      if (completions.status(i) == WcStatus.WR_FLUSH_ERR) {
        throw new AssertionError("request %d was flushed".formatted(wrId));
      }
      if (!requests.compareAndSet(wrId, POSTED, FREE)) {
        throw new AssertionError("request %d completed and was not posted".formatted(wrId));
      }
      received.increment();
    }
    return count;
  }

  private void poll(SharedReceivers it) {
    Completions completions = new Completions(5);
    while (!over.get()) {
      if (take(it, completions) == 0) {
        Thread.yield();
      }
    }
  }

  private void send(SharedReceivers it) {
    SendRequest request = new SendRequest();
    Completions completions = new Completions(16);
    while (!over.get()) {
      for (int i = 0; i < PAIRS; i++) {
        synchronized (it.senders) {
          it.senders.get(i).tryPostSend(request.send().sge(it.source, 0, 8).signaled());
        }
      }
      if (it.sent.poll(completions) == 0) {
        Thread.yield();
      }
    }
  }

  private void change(SharedReceivers it, SplittableRandom random) {
    try {
      for (int change = 0; change < CHANGES && !over.get(); change++) {
        int i = random.nextInt(PAIRS);
        QueuePair receiver = it.receivers.get(i);
        int how = random.nextInt(3);
        if (how != 0) {
          receiver.modify(QpAttributes.to(QpState.ERR));
        }
        if (how == 2) {
          receiver.close();
          receiver = it.receiver();
          it.receivers.set(i, receiver);
        } else {
          receiver.modify(QpAttributes.to(QpState.RESET));
        }
        // Packets of the previous connection are not taken for those of the next.
        RcSetup next = new RcSetup().psns(random.nextInt(1 << 24), random.nextInt(1 << 24));
        synchronized (it.senders) {
          it.senders.get(i).modify(QpAttributes.to(QpState.RESET));
          RcPair.connect(next, it.senders.get(i), receiver);
        }
        long before = received.sum();
        if (change % 4 == 0) {
          it.fabric.await(() -> received.sum() > before || over.get(), () -> "nothing comes");
        }
      }
    } finally {
      over.set(true);
    }
  }

  private Callable<Void> task(Runnable body) {
    return () -> {
      try {
        body.run();
      } finally {
        over.set(true);
      }
      return null;
    };
  }

  @ParameterizedTest
  @CsvSource({"1, ''", "2, ''", "3, ''", "1, &as=s", "2, &as=s", "3, &as=s"})
  void eachRequestCompletesOnceOrIsStillPosted(long seed, String path) throws Exception {
    RcSetup setup = new RcSetup().depth(16);
    try (SharedReceivers it =
        new SharedReceivers(Fabric.threaded(path), setup, CAPACITY, PAIRS, 64)) {
      ConcurrencyTest.together(
          List.of(
              task(() -> post(it, 0, CAPACITY / 2)),
              task(() -> post(it, CAPACITY / 2, CAPACITY)),
              task(() -> poll(it)),
              task(() -> poll(it)),
              task(() -> send(it)),
              task(() -> change(it, new SplittableRandom(seed)))));
      assertThat(received.sum()).isPositive();
      it.events(); // of those that were reset
      it.receivers.forEach(qp -> qp.modify(QpAttributes.to(QpState.ERR)));
      it.senders.forEach(QueuePair::close);
      Completions completions = new Completions(5);
      List<AsyncEventType> events = new ArrayList<>();
      it.fabric.await(
          () -> {
            take(it, completions);
            events.addAll(it.events());
            return events.size() >= PAIRS;
          },
          () -> "only %s".formatted(events));
      assertThat(events).hasSize(PAIRS).containsOnly(AsyncEventType.QP_LAST_WQE_REACHED);
      it.receivers.forEach(QueuePair::close);
      it.senders.clear();
      it.receivers.clear();
      assertAllAreThere(it);
    }
  }

  /** Lets a new queue pair consume every request that was posted and did not complete. */
  private void assertAllAreThere(SharedReceivers it) {
    int left = 0;
    for (int i = 0; i < CAPACITY; i++) {
      left += requests.get(i);
    }
    Wc.drain(it.sent);
    it.senders.add(it.leftPd.createQueuePair(it.setup.apply(QueuePairConfig.rc(it.sent, it.sent))));
    it.receivers.add(it.receiver());
    RcPair.connect(it.setup, it.senders.getFirst(), it.receivers.getFirst());
    Completions completions = new Completions(1);
    for (int i = 0; i < left; i++) {
      it.send(0);
      it.fabric.await(() -> take(it, completions) == 1, () -> "a request was lost");
      it.sent(1);
    }
    it.send(0);
    it.fabric.settle();
    assertThat(Wc.drain(it.received)).as("more than were posted").isEmpty();
  }
}

package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.Stream;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.profile.TestTime;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Completions;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Threads post to one queue pair, others wait for its completions at a channel, one takes it
 * through ERR and RESET, and one creates and destroys objects of the same channel and domain. Each
 * request completes once, except those that a RESET discards.
 */
class HammeringTest {
  private static final int LIVES = 25;

  private final AtomicBoolean over = new AtomicBoolean();
  private final AtomicLong serial = new AtomicLong();
  private final AtomicLong completed = new AtomicLong();
  private final AtomicLong sent = new AtomicLong();
  private final AtomicLong received = new AtomicLong();
  private final AtomicLong made = new AtomicLong();
  private final Set<Long> outstanding = ConcurrentHashMap.newKeySet();

  /** Written by a RESET alone, which discards requests. */
  private final ReadWriteLock lives = new ReentrantReadWriteLock();

  private Callable<Void> repeat(Runnable body) {
    return () -> {
      try {
        while (!over.get()) {
          during(lives.readLock(), body);
          Thread.yield();
        }
      } finally {
        over.set(true);
      }
      return null;
    };
  }

  private static void during(Lock lock, Runnable body) {
    lock.lock();
    try {
      body.run();
    } finally {
      lock.unlock();
    }
  }

  private void send(RcPair pair) {
    SendRequest request = new SendRequest();
    long wrId = serial.incrementAndGet();
    outstanding.add(wrId);
    request
        .wrId(wrId)
        .rdmaWrite(pair.right.address(0), pair.right.buffer.rkey())
        .sge(pair.left.buffer, 0, 8)
        .signaled();
    if (pair.left.qp.tryPostSend(request)) {
      sent.incrementAndGet();
    } else {
      outstanding.remove(wrId);
    }
  }

  private void receive(RcPair pair) {
    long wrId = serial.incrementAndGet();
    outstanding.add(wrId);
    if (pair.left.qp.tryPostReceive(
        new ReceiveRequest().wrId(wrId).into(pair.left.buffer, 64, 8))) {
      received.incrementAndGet();
    } else {
      outstanding.remove(wrId);
    }
  }

  private void take(CompletionQueue queue) {
    Completions completions = new Completions(7);
    for (int n = queue.poll(completions); n > 0; n = queue.poll(completions)) {
      for (int i = 0; i < n; i++) {
        if (!outstanding.remove(completions.wrId(i))) {
          throw new AssertionError("not outstanding: " + completions.describe(i));
        }
      }
      completed.addAndGet(n);
    }
  }

  private void takeAll(RcPair pair) {
    pair.left.sendQueue.requestNotify(false);
    pair.left.receiveQueue.requestNotify(false);
    take(pair.left.sendQueue);
    take(pair.left.receiveQueue);
  }

  private Callable<Void> waiter(RcPair pair) {
    Callable<Void> takes = repeat(() -> takeAll(pair));
    return () -> {
      Thread waits =
          Thread.ofVirtual()
              .start(
                  () -> {
                    while (!over.get()) {
                      try {
                        pair.left.channel.await(TestTime.millis(20));
                      } catch (InterruptedException e) {
                        return;
                      }
                    }
                  });
      takes.call();
      waits.join();
      return null;
    };
  }

  private void change(RcPair pair, SplittableRandom random) {
    // The test ends only after each of the other threads has made progress.
    for (int life = 0; (life < LIVES || !allHaveWorked()) && !over.get(); life++) {
      long enough = completed.get() + random.nextInt(200);
      pair.fabric.await(() -> completed.get() >= enough || over.get(), () -> "nothing completes");
      pair.left.qp.modify(QpAttributes.to(QpState.ERR));
      if (random.nextBoolean()) {
        long more = completed.get() + random.nextInt(50);
        pair.fabric.await(() -> completed.get() >= more || over.get(), () -> "nothing is flushed");
      }
      during(
          lives.writeLock(),
          () -> {
            pair.left.qp.modify(QpAttributes.to(QpState.RESET));
            pair.right.qp.modify(QpAttributes.to(QpState.RESET));
            outstanding.clear();
            pair.connect(RcSetup.randomPsn(random), RcSetup.randomPsn(random));
          });
    }
    pair.left.qp.modify(QpAttributes.to(QpState.ERR));
  }

  private boolean allHaveWorked() {
    return Stream.of(completed, sent, received, made).allMatch(count -> count.get() > 0);
  }

  private void makeAndDestroy(RcPair pair) {
    try (CompletionQueue queue =
            pair.left.context.createCompletionQueue(
                CompletionQueueConfig.of(8).withChannel(pair.left.channel));
        QueuePair other =
            pair.left.pd.createQueuePair(
                QueuePairConfig.rc(queue, queue).sendDepth(4).receiveDepth(4))) {
      queue.requestNotify(false);
      other.modify(pair.setup().connection().toInit(other.type()));
      other.postReceive(new ReceiveRequest().wrId(-1).into(pair.left.buffer, 128, 8));
      other.modify(QpAttributes.to(QpState.ERR));
    }
    made.incrementAndGet();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  @Needs(Feature.QUEUE_PAIR_NUMBERS_FOR_EVER)
  void eachRequestCompletesOnceUnderConcurrentResetAndDestroy(long seed) throws Exception {
    try (RcPair pair = new RcSetup().depth(32).channel().on(Fabric.threaded())) {
      ConcurrencyTest.together(
          List.of(
              repeat(() -> send(pair)),
              repeat(() -> send(pair)),
              repeat(() -> receive(pair)),
              waiter(pair),
              waiter(pair),
              repeat(() -> makeAndDestroy(pair)),
              () -> {
                try {
                  change(pair, new SplittableRandom(seed));
                } finally {
                  over.set(true);
                }
                return null;
              }));
      pair.fabric.await(
          () -> {
            take(pair.left.sendQueue);
            take(pair.left.receiveQueue);
            return outstanding.isEmpty();
          },
          () -> outstanding.size() + " requests have not completed");
      assertThat(allHaveWorked()).isTrue();
    }
  }
}

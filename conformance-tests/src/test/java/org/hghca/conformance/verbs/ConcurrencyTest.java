package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.profile.TestTime;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Context;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.SharedReceiveQueue;
import org.hghca.verbs.SharedReceiveQueueConfig;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Several threads on the same objects, which are thread-safe. */
class ConcurrencyTest {
  private static final Duration LIMIT = TestTime.seconds(30);

  /** Runs tasks at the same time: none starts before there is a thread for each. */
  static void together(List<Callable<Void>> tasks) throws Exception {
    // Never waited for without a limit: a thread that hangs is what these tests look for.
    ExecutorService threads =
        Executors.newFixedThreadPool(
            tasks.size(), task -> Thread.ofPlatform().daemon().unstarted(task));
    try {
      CyclicBarrier start = new CyclicBarrier(tasks.size());
      List<Future<Void>> futures =
          tasks.stream()
              .map(
                  task ->
                      threads.submit(
                          () -> {
                            start.await();
                            return task.call();
                          }))
              .toList();
      for (Future<Void> future : futures) {
        future.get(LIMIT.toNanos(), TimeUnit.NANOSECONDS);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  /**
   * Repeated until the posters, and the pollers, have taken turns: on a busy machine they may not.
   */
  @Test
  void threeThreadsPostToOneQueuePairAndTwoPollIt() throws Exception {
    int posters = 3;
    int turns = 0;
    for (int round = 0; turns <= posters + 4; round++) {
      assertThat(round).as("rounds without turns of the threads that post").isLessThan(50);
      turns = turnsOfThreadsThatPost(posters);
    }
  }

  /** One round; returns how often the poster changed from completion to completion, or 0. */
  private static int turnsOfThreadsThatPost(int posters) throws Exception {
    int each = 4000;
    boolean[] seen = new boolean[posters * each];
    AtomicBoolean twice = new AtomicBoolean();
    int[] polled = new int[2];
    AtomicInteger turns = new AtomicInteger();
    try (RcPair pair = new RcSetup().depth(64).inline(8).on(Fabric.threaded())) {
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int p = 0; p < posters; p++) {
        int first = p * each;
        tasks.add(
            () -> {
              SendRequest request = new SendRequest();
              for (int i = first; i < first + each; i++) {
                request
                    .wrId(i)
                    .rdmaWrite(pair.right.address(4L * i), pair.right.buffer.rkey())
                    .sge(pair.left.buffer, 4L * i, 4)
                    .signaled();
                while (!pair.left.qp.tryPostSend(request)) {
                  Thread.yield();
                }
              }
              return null;
            });
      }
      for (int p = 0; p < polled.length; p++) {
        int poller = p;
        tasks.add(
            () -> {
              Completions completions = new Completions(8);
              int poster = -1;
              while (true) {
                synchronized (seen) {
                  if (polled[0] + polled[1] == seen.length || Thread.interrupted()) {
                    return null;
                  }
                }
                int n = pair.left.sendQueue.poll(completions);
                synchronized (seen) {
                  for (int i = 0; i < n; i++) {
                    int wrId = (int) completions.wrId(i);
                    turns.addAndGet(wrId / each == poster ? 0 : 1);
                    poster = wrId / each;
                    twice.compareAndSet(false, seen[wrId] || !completions.isSuccess(i));
                    seen[wrId] = true;
                  }
                  polled[poller] += n;
                }
                if (n == 0) {
                  Thread.yield();
                }
              }
            });
      }
      for (int i = 0; i < seen.length; i++) {
        pair.left.memory().set(ValueLayout.JAVA_INT, 4L * i, i * 31 + 7);
      }
      together(tasks);
      assertThat(twice).isFalse();
      assertThat(seen).doesNotContain(false);
      long length = 4L * seen.length;
      pair.fabric.awaitWritten(
          pair.right.memory().asSlice(0, length), pair.left.memory().asSlice(0, length));
      pair.left.expectAnything(0, pair.left.buffer.length());
      return polled[0] > 0 && polled[1] > 0 ? turns.get() : 0;
    }
  }

  /** How often a thread has tried to post, and how often the post was accepted. */
  private static final class Posts {
    final AtomicLong tries = new AtomicLong();
    final AtomicLong posted = new AtomicLong();

    void tried(boolean taken) {
      posted.addAndGet(taken ? 1 : 0);
      tries.incrementAndGet();
    }
  }

  @Test
  void queuePairGoesToErrWhileOthersPostAndPoll() throws Exception {
    for (int round = 0; round < 40; round++) {
      try (RcPair pair = new RcSetup().depth(16).on(Fabric.threaded())) {
        AtomicBoolean over = new AtomicBoolean();
        List<Wc> found = new ArrayList<>();
        Posts receives = new Posts();
        Posts sends = new Posts();
        together(
            List.of(
                () -> {
                  ReceiveRequest request = new ReceiveRequest().into(pair.left.buffer, 0, 8);
                  while (!over.get()) {
                    receives.tried(pair.left.qp.tryPostReceive(request));
                  }
                  return null;
                },
                () -> {
                  SendRequest request = new SendRequest();
                  request
                      .rdmaWrite(pair.right.address(0), pair.right.buffer.rkey())
                      .sge(pair.left.buffer, 0, 8)
                      .signaled();
                  while (!over.get()) {
                    sends.tried(pair.left.qp.tryPostSend(request));
                  }
                  return null;
                },
                () -> {
                  try {
                    while (found.isEmpty() || receives.posted.get() == 0) {
                      Thread.yield();
                      found.addAll(Wc.drain(pair.left.sendQueue));
                    }
                    pair.left.qp.modify(QpAttributes.to(QpState.ERR));
                    long receivesThen = receives.tries.get();
                    long sendsThen = sends.tries.get();
                    for (int i = 0;
                        i < 20
                            || receives.tries.get() == receivesThen
                            || sends.tries.get() == sendsThen;
                        i++) {
                      found.addAll(Wc.drain(pair.left.receiveQueue));
                      found.addAll(Wc.drain(pair.left.sendQueue));
                    }
                  } finally {
                    over.set(true);
                  }
                  return null;
                }));
        // Each accepted request ends with a completion, in whatever state it was posted.
        long posted = receives.posted.get() + sends.posted.get();
        pair.fabric.await(
            () -> {
              found.addAll(Wc.drain(pair.left.receiveQueue));
              found.addAll(Wc.drain(pair.left.sendQueue));
              return found.size() >= posted;
            },
            () -> "%d of %d completions".formatted(found.size(), posted));
        assertThat(found.stream().filter(wc -> wc.opcode().isReceive()))
            .hasSize(receives.posted.intValue());
        assertThat(found).hasSize((int) posted);
      }
    }
  }

  @Test
  void regionsAreRegisteredAndDeregisteredDuringTraffic() throws Exception {
    try (RcPair pair = new RcSetup().on(Fabric.threaded())) {
      AtomicBoolean over = new AtomicBoolean();
      AtomicInteger first = new AtomicInteger();
      AtomicInteger second = new AtomicInteger();
      Function<AtomicInteger, Callable<Void>> register =
          made ->
              () -> {
                while (!over.get()) {
                  long bytes = 1 + 5000L * (made.get() % 7);
                  pair.right.pd.allocate(bytes, AccessFlag.LOCAL_WRITE).close();
                  made.incrementAndGet();
                }
                return null;
              };
      together(
          List.of(
              register.apply(first),
              register.apply(second),
              () -> {
                try (MemoryRegion region = pair.right.pd.allocate(64, Side.ALL)) {
                  for (int i = 0; i < 500 || first.get() < 50 || second.get() < 50; i++) {
                    pair.left.qp.postSend(
                        pair.left.write(region).sge(pair.left.buffer, 0, 64).signaled());
                    Side.assertSuccess(pair.left.sent());
                  }
                } finally {
                  over.set(true);
                }
                return null;
              }));
    }
  }

  @Tag("loop")
  @Test
  void queuePairsAndQueuesAreCreatedUsedAndClosedConcurrently() throws Exception {
    try (Fabric fabric = Fabric.threaded()) {
      Context context = fabric.left();
      CyclicBarrier round = new CyclicBarrier(4);
      Callable<Void> comeAndGo =
          () -> {
            for (int i = 0; i < 25; i++) {
              round.await();
              reachItself(context);
            }
            return null;
          };
      together(List.of(comeAndGo, comeAndGo, comeAndGo, comeAndGo));
    }
  }

  /** Null where there are none. */
  private static SharedReceiveQueue share(ProtectionDomain pd) {
    return TestProfile.has(Feature.SHARED_RECEIVE_QUEUES)
        ? pd.createSharedReceiveQueue(SharedReceiveQueueConfig.of(4, 1))
        : null;
  }

  private static QueuePair create(
      ProtectionDomain pd, CompletionQueue queue, SharedReceiveQueue shared) {
    QueuePairConfig qp = QueuePairConfig.rc(queue, queue).sendDepth(4).receiveDepth(4);
    return pd.createQueuePair(shared == null ? qp : qp.sharedReceiveQueue(shared));
  }

  /** Everything that a connection needs is created, carries one message, and is closed. */
  private static void reachItself(Context context) throws InterruptedException {
    try (ProtectionDomain pd = context.allocateProtectionDomain();
        CompletionChannel channel = context.createCompletionChannel();
        CompletionQueue queue =
            context.createCompletionQueue(CompletionQueueConfig.of(8).withChannel(channel));
        SharedReceiveQueue shared = share(pd);
        MemoryRegion memory = pd.allocate(64, AccessFlag.LOCAL_WRITE);
        QueuePair qp = create(pd, queue, shared)) {
      qp.connect(own -> own);
      memory.segment().set(ValueLayout.JAVA_LONG, 0, 0x1234_5678_9abcL);
      ReceiveRequest receive = new ReceiveRequest().into(memory, 32, 8);
      if (shared == null) {
        qp.postReceive(receive);
      } else {
        shared.postReceive(receive);
      }
      queue.requestNotify(false);
      qp.postSend(new SendRequest().send().sge(memory, 0, 8).signaled());
      Completions completions = new Completions(4);
      for (int found = 0; found < 2; ) {
        int n = queue.poll(completions);
        for (int i = 0; i < n; i++) {
          assertThat(completions.isSuccess(i)).as(completions.describe(i)).isTrue();
        }
        found += n;
        if (found < 2 && n == 0) {
          assertThat(channel.await(LIMIT)).containsSame(queue);
          queue.requestNotify(false);
        }
      }
      assertThat(memory.segment().get(ValueLayout.JAVA_LONG, 32)).isEqualTo(0x1234_5678_9abcL);
    }
  }
}

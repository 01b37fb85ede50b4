package org.hghca.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class EventSubscriptionTest {
  /** Pending events, and subscriptions that wait for events. */
  private final List<CompletionQueue> events = new ArrayList<>();

  private final BlockingQueue<CompletableFuture<CompletionQueue>> waiting =
      new LinkedBlockingQueue<>();
  private VerbsException end;

  @SuppressWarnings("FutureReturnValueIgnored") // a fake answers any kind of value
  private final CompletionChannel channel =
      Fakes.of(CompletionChannel.class, Map.of("next", arguments -> next()));

  private synchronized CompletableFuture<CompletionQueue> next() {
    if (end != null) {
      throw end;
    }
    CompletableFuture<CompletionQueue> future = new CompletableFuture<>();
    if (events.isEmpty()) {
      waiting.add(future);
    } else {
      future.complete(events.removeFirst());
    }
    return future;
  }

  private static CompletionQueue queue(int number) {
    return Fakes.of(CompletionQueue.class, Map.of("entries", a -> number));
  }

  @Test
  void eventsComeOneAtATimeAndInOrderAsTasksOfTheExecutor() throws Exception {
    int count = 1000;
    for (int i = 0; i < count; i++) {
      events.add(queue(i));
    }
    List<Integer> seen = Collections.synchronizedList(new ArrayList<>());
    AtomicInteger inside = new AtomicInteger();
    CountDownLatch all = new CountDownLatch(count);
    try (ExecutorService executor = Executors.newFixedThreadPool(4);
        EventSubscription subscription =
            channel.subscribe(
                executor,
                queue -> {
                  assertThat(inside.incrementAndGet()).isOne();
                  seen.add(queue.entries());
                  inside.decrementAndGet();
                  all.countDown();
                })) {
      all.await();
      assertThat(subscription.ended()).isNotDone();
    }
    assertThat(seen).isSorted().hasSize(count);
  }

  /** Otherwise each would be called from within the one before it. */
  @Test
  void executorThatRunsTasksAtOnceDoesNotNestThem() throws Exception {
    int count = 20_000;
    CompletionQueue queue = queue(1);
    events.addAll(Collections.nCopies(count, queue));
    CountDownLatch all = new CountDownLatch(count);

    try (EventSubscription subscription = channel.subscribe(Runnable::run, q -> all.countDown())) {
      all.await();
      assertThat(subscription.ended()).isNotDone();
    }
  }

  @Test
  void callbackThatThrowsDoesNotEndTheSubscription() throws Exception {
    events.add(queue(1));
    events.add(queue(2));
    CountDownLatch second = new CountDownLatch(1);
    List<Throwable> thrown = Collections.synchronizedList(new ArrayList<>());
    Executor executor =
        task -> {
          try {
            task.run();
          } catch (IllegalStateException e) {
            thrown.add(e);
          }
        };

    try (EventSubscription subscription =
        channel.subscribe(
            executor,
            queue -> {
              if (queue.entries() == 1) {
                throw new IllegalStateException("mistake of the program");
              }
              second.countDown();
            })) {
      second.await();
      assertThat(subscription.ended()).isNotDone();
    }
    assertThat(thrown).singleElement().isInstanceOf(IllegalStateException.class);
  }

  @Test
  void closingTakesNoMoreEvents() throws Exception {
    EventSubscription subscription = channel.subscribe(Runnable::run, q -> assertThat(q).isNull());
    CompletableFuture<CompletionQueue> awaited = waiting.take();

    subscription.close();
    subscription.close();

    assertThat(awaited).isCancelled();
    assertThat(subscription.ended()).isCompleted();
  }

  @Test
  void failedChannelEndsTheSubscriptionWithTheFailure() throws Exception {
    EventSubscription subscription = channel.subscribe(Runnable::run, q -> {});
    VerbsException failure = new VerbsException(Errno.EIO, "the device has failed");

    waiting.take().completeExceptionally(failure);

    assertThatThrownBy(() -> subscription.ended().get(30, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .hasRootCause(failure);
  }

  @Test
  void channelClosedBetweenTwoEventsEndsTheSubscription() {
    VerbsException failure = new VerbsException(Errno.EINVAL, "closed");
    events.add(queue(1));

    EventSubscription subscription =
        channel.subscribe(
            Runnable::run,
            q -> {
              synchronized (this) {
                end = failure;
              }
            });

    assertThatThrownBy(() -> subscription.ended().join())
        .isInstanceOf(CompletionException.class)
        .hasCause(failure);
  }

  @Test
  void closedChannelRefusesSubscriptions() {
    end = new VerbsException(Errno.EINVAL, "closed");

    assertThatThrownBy(() -> channel.subscribe(Runnable::run, q -> {})).isSameAs(end);
  }

  @Test
  void executorThatRejectsTasksEndsTheSubscription() {
    events.add(queue(1));

    EventSubscription subscription =
        channel.subscribe(
            task -> {
              throw new RejectedExecutionException("shut down");
            },
            q -> {});

    assertThatThrownBy(() -> subscription.ended().join())
        .hasCauseInstanceOf(RejectedExecutionException.class);
  }
}

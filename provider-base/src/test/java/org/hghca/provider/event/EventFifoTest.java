package org.hghca.provider.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.Test;

/** Events and waiters, both in their order; none is lost or delivered twice. */
public class EventFifoTest {

  /** A queue of numbers that knows which ones were taken. */
  private static final class Numbers extends EventFifo<Integer> {
    private final Set<Integer> taken = new HashSet<>();
    private final List<Integer> dropped = new ArrayList<>();
    private int dead = -1;

    Numbers(int limit) {
      super(limit);
    }

    @Override
    protected boolean isLive(Integer event) {
      return event != dead;
    }

    @Override
    protected boolean take(Integer event) {
      return isLive(event) && taken.add(event);
    }

    @Override
    protected void putBack(Integer event) {
      taken.remove(event);
    }

    @Override
    protected void dropped(Integer event) {
      dropped.add(event);
    }
  }

  @Test
  public void oldestAreDroppedAndInvalidOnesNotDelivered() {
    Numbers fifo = new Numbers(3);
    for (int i = 0; i < 5; i++) {
      fifo.give(i);
    }
    assertThat(fifo.dropped).containsExactly(0, 1);
    fifo.dead = 3;
    fifo.give(3);
    assertThat(fifo.poll()).contains(2);
    assertThat(fifo.poll()).contains(4);
    assertThat(fifo.poll()).isEmpty();
    assertThat(fifo.given()).isEqualTo(5);
  }

  @Test
  public void itIsReadyWhileItHasEventsOrHasEnded() throws InterruptedException {
    Numbers fifo = new Numbers(3);
    assertThat(fifo.isReady()).isFalse();
    fifo.give(1);
    fifo.give(2);
    assertThat(fifo.isReady()).isTrue();
    assertThat(fifo.await()).isEqualTo(1);
    assertThat(fifo.isReady()).isTrue();
    assertThat(fifo.poll()).contains(2);
    assertThat(fifo.isReady()).isFalse();
    fifo.give(3);
    fifo.removeIf(number -> number == 3);
    assertThat(fifo.isReady()).isFalse();
    fifo.end(() -> new VerbsException(Errno.EIO, "the end"));
    assertThat(fifo.isReady()).isTrue();
  }

  @Test
  public void timedOutFutureTakesNoEvent() throws Exception {
    Numbers fifo = new Numbers(10);
    CompletableFuture<Integer> late = fifo.next().orTimeout(1, TimeUnit.MILLISECONDS);
    assertThatThrownBy(() -> late.get(20, TimeUnit.SECONDS))
        .hasCauseInstanceOf(TimeoutException.class);
    CompletableFuture<Integer> next = fifo.next();
    fifo.give(1);
    assertThat(next.get(20, TimeUnit.SECONDS)).isEqualTo(1);
    fifo.give(2);
    assertThat(fifo.next()).isCompletedWithValue(2);
  }

  @Test
  public void timedOutWaiterTakesNoEvent() throws Exception {
    Numbers fifo = new Numbers(10);
    assertThat(fifo.await(Duration.ofMillis(1))).isEmpty();
    assertThat(fifo.await(Duration.ZERO)).isEmpty();
    assertThat(fifo.await(Duration.ofSeconds(-1))).isEmpty();
    fifo.give(1);
    assertThat(fifo.await(Duration.ofSeconds(Long.MAX_VALUE))).contains(1);
  }

  @Test
  public void firstCauseOfTheEndIsKept() {
    Numbers fifo = new Numbers(10);
    fifo.give(1);
    fifo.end(() -> new VerbsException(Errno.EIO, "first"));
    fifo.end(() -> new VerbsException(Errno.EINVAL, "second"));
    fifo.give(2);
    assertThatThrownBy(fifo::poll).hasMessageContaining("first");
    assertThatThrownBy(fifo::await).hasMessageContaining("first");
    assertThat(fifo.next()).isCompletedExceptionally();
  }

  @Test
  public void everyEventHasOneTakerDespiteCancellations() throws Exception {
    int events = 3000;
    Numbers fifo = new Numbers(events);
    ConcurrentLinkedQueue<Integer> found = new ConcurrentLinkedQueue<>();
    CountDownLatch all = new CountDownLatch(events);
    Met met = new Met();
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 6; t++) {
      SplittableRandom random = new SplittableRandom(t);
      threads.add(
          Thread.startVirtualThread(
              () -> {
                while (all.getCount() > 0) {
                  take(fifo, random, found, all, met);
                }
              }));
    }
    for (int i = 0; i < events; i++) {
      // The last ones are delivered when each way to take one, and not to, has occurred.
      while (i == events - 100 && !met.all()) {
        threads.get(i % threads.size()).interrupt();
        Thread.yield();
      }
      fifo.give(i);
      threads.get(i % threads.size()).interrupt();
    }
    assertThat(all.await(30, TimeUnit.SECONDS)).isTrue();
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(found).hasSize(events).doesNotHaveDuplicates();
  }

  /** The outcome of each waiter. */
  private static final class Met {
    final AtomicInteger taken = new AtomicInteger();
    final AtomicInteger timedOut = new AtomicInteger();
    final AtomicInteger completed = new AtomicInteger();
    final AtomicInteger cancelled = new AtomicInteger();
    final AtomicInteger interrupted = new AtomicInteger();

    boolean all() {
      return Stream.of(taken, timedOut, completed, cancelled, interrupted)
          .allMatch(count -> count.get() > 0);
    }
  }

  private static void take(
      Numbers fifo,
      SplittableRandom random,
      ConcurrentLinkedQueue<Integer> found,
      CountDownLatch all,
      Met met) {
    try {
      if (random.nextBoolean()) {
        Optional<Integer> event = fifo.await(Duration.ofNanos(random.nextInt(100_000)));
        event.ifPresent(found::add);
        event.ifPresent(_ -> all.countDown());
        (event.isPresent() ? met.taken : met.timedOut).incrementAndGet();
        return;
      }
      CompletableFuture<Integer> future = fifo.next();
      Thread.yield();
      if (future.cancel(false)) {
        met.cancelled.incrementAndGet();
      } else {
        found.add(future.join());
        all.countDown();
        met.completed.incrementAndGet();
      }
    } catch (InterruptedException e) {
      met.interrupted.incrementAndGet(); // once more
    }
  }

  @Test
  public void anActionTakesEventsInThePlaceOfWaiters() {
    Numbers fifo = new Numbers(3);
    AtomicInteger runs = new AtomicInteger();
    assertThat(fifo.onEvent(runs::incrementAndGet)).isTrue();
    assertThat(runs).hasValue(0);
    fifo.give(1);
    fifo.give(2);
    assertThat(runs).hasValue(2);
    assertThat(fifo.poll()).as("kept for nobody else").isEmpty();
    assertThat(fifo.given()).isEqualTo(2);
    assertThat(fifo.onEvent(() -> {})).as("a second action").isFalse();
  }

  @Test
  public void anActionRunsAtOnceForEventsBeforeIt() {
    Numbers fifo = new Numbers(3);
    fifo.give(1);
    fifo.give(2);
    AtomicInteger runs = new AtomicInteger();
    fifo.onEvent(runs::incrementAndGet);
    assertThat(runs).hasValue(1);
    assertThat(fifo.poll()).isEmpty();
  }

  @Test
  public void anActionRunsAtTheEndToo() {
    AtomicInteger runs = new AtomicInteger();
    Numbers before = new Numbers(3);
    before.onEvent(runs::incrementAndGet);
    before.end(() -> new VerbsException(Errno.EIO, "gone"));
    assertThat(runs).hasValue(1);
    Numbers after = new Numbers(3);
    after.end(() -> new VerbsException(Errno.EIO, "gone"));
    after.onEvent(runs::incrementAndGet);
    assertThat(runs).hasValue(2);
  }
}

package org.hghca.provider.event;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.hghca.verbs.VerbsException;

/**
 * Events and their waiters, both in order of arrival. Thread-safe. Raising an event never waits for
 * user code, so it may be done under a ring's lock.
 */
public abstract class EventFifo<T> {
  private final int limit;
  private final ReentrantLock lock = new ReentrantLock();
  private final ArrayDeque<T> events = new ArrayDeque<>();

  /** There are no waiters while there are events. */
  private final ArrayDeque<Waiter<T>> waiters = new ArrayDeque<>();

  /** Takes all events, or null. */
  private Runnable action;

  private Supplier<VerbsException> end;

  /** Whether a waiter would not wait. */
  private volatile boolean ready;

  private long given;

  /**
   * Without events.
   *
   * @param limit how many events are kept for later takers; the newest are kept
   */
  public EventFifo(int limit) {
    this.limit = limit;
  }

  /** A waiting thread, or a future. */
  private static final class Waiter<T> {
    private final Condition turn;
    private final CompletableFuture<T> future;
    private T event;

    Waiter(Condition turn, CompletableFuture<T> future) {
      this.turn = turn;
      this.future = future;
    }

    boolean hasLeft() {
      return future != null && future.isDone();
    }
  }

  /** Whether the waiter can still receive the event. */
  protected abstract boolean isLive(T event);

  /** Claims the waiter for the event; returns false if it is too late. */
  protected abstract boolean take(T event);

  /** Undoes {@link #take}: the intended receiver refuses the event. */
  protected abstract void putBack(T event);

  /** The oldest event was dropped, because the program does not take them. */
  protected abstract void dropped(T event);

  /** Gives an event to the action, or to the longest waiter, or keeps it. */
  public final void give(T event) {
    lock.lock();
    try {
      if (end != null || !isLive(event)) {
        return;
      }
      given++;
      if (action != null) {
        action.run();
      } else if (!handOver(event)) {
        if (events.size() == limit) {
          dropped(events.removeFirst());
        }
        events.addLast(event);
        ready = true;
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Runs an action at each event from now on, and at the end, under the lock of this queue: once at
   * once if there is an event, or the end has come.
   *
   * @return false when there is an action already
   */
  public final boolean onEvent(Runnable taker) {
    lock.lock();
    try {
      if (action != null) {
        return false;
      }
      action = taker;
      if (ready) {
        events.clear();
        ready = end != null;
        action.run();
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Whether the event is handled: a waiter got it, or none can any more. */
  private boolean handOver(T event) {
    while (!waiters.isEmpty() && waiters.getFirst().hasLeft()) {
      waiters.removeFirst();
    }
    if (waiters.isEmpty()) {
      return false;
    }
    if (take(event)) {
      Waiter<T> waiter = waiters.removeFirst();
      waiter.event = event;
      if (waiter.future == null) {
        waiter.turn.signal();
      } else {
        Thread.startVirtualThread(() -> complete(waiter.future, event));
      }
    }
    return true;
  }

  private void complete(CompletableFuture<T> future, T event) {
    if (future.complete(event)) {
      return;
    }
    // Cancelled at the last moment.
    lock.lock();
    try {
      putBack(event);
      if (end == null && isLive(event) && !handOver(event)) {
        events.addFirst(event);
        ready = true;
      }
    } finally {
      lock.unlock();
    }
  }

  /** Whether there is an event now, or there will be none. */
  public final boolean isReady() {
    return ready;
  }

  public final T await() throws InterruptedException {
    while (true) {
      T event = await(Long.MAX_VALUE);
      if (event != null) {
        return event;
      }
    }
  }

  public final Optional<T> await(Duration limit) throws InterruptedException {
    return Optional.ofNullable(await(TimeUnit.NANOSECONDS.convert(limit)));
  }

  private T await(long nanos) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      T event = takeOldest();
      if (event != null || nanos <= 0) {
        return event;
      }
      Waiter<T> waiter = new Waiter<>(lock.newCondition(), null);
      waiters.addLast(waiter);
      try {
        for (long left = nanos; waiter.event == null && end == null && left > 0; ) {
          left = waiter.turn.awaitNanos(left);
        }
      } catch (InterruptedException e) {
        if (waiter.event == null) {
          throw e;
        }
        // The event came first and must not be lost; the interrupt stays pending.
        Thread.currentThread().interrupt();
      } finally {
        waiters.remove(waiter);
      }
      if (waiter.event == null) {
        checkEnd();
      }
      return waiter.event;
    } finally {
      lock.unlock();
    }
  }

  public final Optional<T> poll() {
    lock.lock();
    try {
      return Optional.ofNullable(takeOldest());
    } finally {
      lock.unlock();
    }
  }

  public final CompletableFuture<T> next() {
    CompletableFuture<T> future = new CompletableFuture<>();
    lock.lock();
    try {
      T event = takeOldest();
      if (event != null) {
        future.complete(event);
        return future;
      }
      Waiter<T> waiter = new Waiter<>(null, future);
      waiters.addLast(waiter);
      var _ = future.whenComplete((taken, failure) -> leave(waiter));
    } catch (VerbsException e) {
      future.completeExceptionally(e);
    } finally {
      lock.unlock();
    }
    return future;
  }

  private void leave(Waiter<T> waiter) {
    lock.lock();
    try {
      waiters.remove(waiter);
    } finally {
      lock.unlock();
    }
  }

  private T takeOldest() {
    checkEnd();
    T event = events.pollFirst();
    while (event != null && !take(event)) {
      event = events.pollFirst();
    }
    ready = !events.isEmpty();
    return event;
  }

  private void checkEnd() {
    if (end != null) {
      throw end.get();
    }
  }

  /** Drops untaken events. */
  public final void removeIf(Predicate<? super T> which) {
    lock.lock();
    try {
      events.removeIf(which);
      ready = !events.isEmpty() || end != null;
    } finally {
      lock.unlock();
    }
  }

  /** Ends every wait, now and later, with a failure; the first failure stays. */
  public final void end(Supplier<VerbsException> failure) {
    lock.lock();
    try {
      if (end != null) {
        return;
      }
      end = failure;
      ready = true;
      events.clear();
      for (Waiter<T> waiter : waiters) {
        if (waiter.future == null) {
          waiter.turn.signal();
        } else {
          Thread.startVirtualThread(() -> waiter.future.completeExceptionally(failure.get()));
        }
      }
      waiters.clear();
      if (action != null) {
        action.run();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Number of events so far. */
  public final long given() {
    lock.lock();
    try {
      return given;
    } finally {
      lock.unlock();
    }
  }
}

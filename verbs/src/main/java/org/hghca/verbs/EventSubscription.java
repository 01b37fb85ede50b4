package org.hghca.verbs;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Runs a callback for each event of a channel: one at a time, in the order of the events, each as a
 * task of the subscriber's executor. A callback that throws does not end it; the executor handles
 * the exception. Thread-safe.
 */
public final class EventSubscription implements AutoCloseable {
  private final CompletableFuture<Void> end = new CompletableFuture<>();
  private volatile CompletableFuture<?> awaited;

  private EventSubscription() {}

  static <T> EventSubscription of(
      Supplier<CompletableFuture<T>> next, Executor executor, Consumer<? super T> callback) {
    EventSubscription subscription = new EventSubscription();
    subscription.awaitNext(next, executor, callback);
    return subscription;
  }

  private <T> void awaitNext(
      Supplier<CompletableFuture<T>> next, Executor executor, Consumer<? super T> callback) {
    CompletableFuture<T> future = next.get();
    awaited = future;
    // On a separate thread: otherwise an executor that runs tasks at once would nest them.
    var _ =
        future.whenCompleteAsync(
            (event, failure) -> {
              if (failure == null) {
                run(executor, () -> deliver(event, next, executor, callback));
              } else if (!future.isCancelled()) {
                end.completeExceptionally(failure);
              }
            },
            Thread::startVirtualThread);
    if (end.isDone()) {
      future.cancel(false); // closed meanwhile
    }
  }

  private void run(Executor executor, Runnable task) {
    try {
      executor.execute(task);
    } catch (RuntimeException e) {
      end.completeExceptionally(e);
      throw e;
    }
  }

  private <T> void deliver(
      T event,
      Supplier<CompletableFuture<T>> next,
      Executor executor,
      Consumer<? super T> callback) {
    try {
      callback.accept(event);
    } finally {
      awaitNextUnlessEnded(next, executor, callback);
    }
  }

  private <T> void awaitNextUnlessEnded(
      Supplier<CompletableFuture<T>> next, Executor executor, Consumer<? super T> callback) {
    try {
      if (!end.isDone()) {
        awaitNext(next, executor, callback);
      }
    } catch (VerbsException e) {
      end.completeExceptionally(e);
    }
  }

  /**
   * Completes when it ends: normally when it is closed; with the failure where waiting for an event
   * failed, because the channel is closed or the device has failed, or where the executor refused a
   * task.
   */
  public CompletableFuture<Void> ended() {
    return end.copy();
  }

  /** Takes no more events. A started callback, or one whose event was taken, still runs. */
  @Override
  public void close() {
    end.complete(null);
    awaited.cancel(false);
  }

  @Override
  public String toString() {
    return end.isDone() ? "ended subscription" : "subscription that awaits an event";
  }
}

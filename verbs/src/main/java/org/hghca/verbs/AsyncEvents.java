package org.hghca.verbs;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * The asynchronous events of a context. Thread-safe; each event goes to one of those who wait.
 * Events that nobody takes stay, the newest of them at most 4096; those of an object go with it.
 *
 * <p>Each event that was taken must be {@linkplain AsyncEvent#acknowledge acknowledged}: closing
 * the object that it happened to fails with EBUSY until then.
 */
public interface AsyncEvents {

  /**
   * Waits for an event: {@code ibv_get_async_event}.
   *
   * @throws VerbsException EINVAL when the context is closed
   * @throws InterruptedException when the thread is interrupted; no event is lost
   */
  AsyncEvent await() throws InterruptedException;

  /**
   * Waits for an event, but no longer than a time.
   *
   * @param limit zero only looks
   * @return empty when none came
   */
  Optional<AsyncEvent> await(Duration limit) throws InterruptedException;

  /** Takes an event that is there, without waiting. */
  Optional<AsyncEvent> poll();

  /** The next event; as {@link CompletionChannel#next}. */
  CompletableFuture<AsyncEvent> next();

  /**
   * Has a callback run for each event from now on: one at a time, as a task of the executor.
   *
   * @param executor such as an event loop, or {@code Runnable::run} for a thread of the library's,
   *     which may block
   * @param callback is given an event, which it is to acknowledge
   * @throws VerbsException EINVAL when it is closed
   */
  default EventSubscription subscribe(Executor executor, Consumer<? super AsyncEvent> callback) {
    return EventSubscription.of(this::next, executor, callback);
  }
}

package org.hghca.verbs;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * The asynchronous events of a context. Thread-safe; each event goes to one waiter. Untaken events
 * stay, at most the newest 4096; closing an object removes its events.
 *
 * <p>Each taken event must be {@linkplain AsyncEvent#acknowledge acknowledged}: closing the object
 * that it happened to fails with EBUSY until then.
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
   * Waits for an event, up to a time limit.
   *
   * @param limit zero does not wait
   * @return empty when none came
   */
  Optional<AsyncEvent> await(Duration limit) throws InterruptedException;

  /** Takes an available event, without waiting. */
  Optional<AsyncEvent> poll();

  /** The next event; as {@link CompletionChannel#next}. */
  CompletableFuture<AsyncEvent> next();

  /**
   * Runs a callback for each event from now on: one at a time, as a task of the executor.
   *
   * @param executor such as an event loop, or {@code Runnable::run} for a thread of the library's,
   *     which may block
   * @param callback gets an event, which it must acknowledge
   * @throws VerbsException EINVAL when it is closed
   */
  default EventSubscription subscribe(Executor executor, Consumer<? super AsyncEvent> callback) {
    return EventSubscription.of(this::next, executor, callback);
  }
}

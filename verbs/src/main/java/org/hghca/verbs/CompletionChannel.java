package org.hghca.verbs;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * Where completion queues tell that there is something to poll: {@code ibv_comp_channel}.
 * Thread-safe; any number of threads, virtual ones too, may wait, and each event goes to one of
 * them. Waiting blocks no carrier thread and makes no native call.
 *
 * <p>A completion queue gives one event for each {@link CompletionQueue#requestNotify}, at the
 * first completion that comes behind it. So after an event: request again, then poll until the
 * queue is empty, then wait.
 *
 * <p>An event that was taken needs no acknowledgement. Closing is idempotent, fails with EBUSY
 * while completion queues use the channel, and ends every wait with EINVAL.
 */
public interface CompletionChannel extends AutoCloseable {

  Context context();

  /**
   * Waits for an event: {@code ibv_get_cq_event}.
   *
   * @return the completion queue that has something to poll
   * @throws VerbsException EIO after a fatal error of the device; EINVAL when the channel is closed
   * @throws InterruptedException when the thread is interrupted; no event is lost
   */
  CompletionQueue await() throws InterruptedException;

  /**
   * Waits for an event, but no longer than a time.
   *
   * @param limit zero only looks
   * @return empty when none came
   */
  Optional<CompletionQueue> await(Duration limit) throws InterruptedException;

  /** Takes an event that is there, without waiting. */
  Optional<CompletionQueue> poll();

  /**
   * The next event. Events go to waiters in the order in which they began to wait; a future that is
   * cancelled takes none. It is completed on a thread of its own, so that what depends on it may
   * block; it fails with {@link VerbsException} where {@link #await()} would.
   */
  CompletableFuture<CompletionQueue> next();

  /**
   * Has a callback run for each event from now on: one at a time, as a task of the executor.
   *
   * @param executor such as an event loop, or {@code Runnable::run} for a thread of the library's,
   *     which may block
   * @param callback is given a completion queue that has something to poll; it is to arm it, then
   *     to drain it
   * @throws VerbsException EINVAL when it is closed
   */
  default EventSubscription subscribe(
      Executor executor, Consumer<? super CompletionQueue> callback) {
    return EventSubscription.of(this::next, executor, callback);
  }

  @Override
  void close();
}

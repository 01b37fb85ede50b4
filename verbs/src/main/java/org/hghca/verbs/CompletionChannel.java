package org.hghca.verbs;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * Reports which completion queues have something to poll: {@code ibv_comp_channel}. Thread-safe;
 * any number of threads, virtual ones too, may wait, and each event goes to one of them. Waiting
 * blocks no carrier thread and makes no native call.
 *
 * <p>A completion queue gives one event for each {@link CompletionQueue#requestNotify}, at the
 * first completion after it. So after an event: arm, drain, then wait.
 *
 * <p>A taken event needs no acknowledgement. Closing is idempotent, fails with EBUSY while
 * completion queues use the channel, and ends every wait with EINVAL.
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
   * Waits for an event, up to a time limit.
   *
   * @param limit zero does not wait
   * @return empty when none came
   */
  Optional<CompletionQueue> await(Duration limit) throws InterruptedException;

  /** Takes an available event, without waiting. */
  Optional<CompletionQueue> poll();

  /**
   * The next event. Events go to waiters in the order in which they began to wait; a cancelled
   * future takes none. It is completed on a separate thread, so that dependent actions may block;
   * it fails with {@link VerbsException} where {@link #await()} would.
   */
  CompletableFuture<CompletionQueue> next();

  /**
   * Runs a callback for each event from now on: one at a time, as a task of the executor.
   *
   * @param executor such as an event loop, or {@code Runnable::run} for a thread of the library's,
   *     which may block
   * @param callback gets a completion queue that has something to poll; it must arm it, then drain
   *     it
   * @throws VerbsException EINVAL when it is closed
   */
  default EventSubscription subscribe(
      Executor executor, Consumer<? super CompletionQueue> callback) {
    return EventSubscription.of(this::next, executor, callback);
  }

  @Override
  void close();
}

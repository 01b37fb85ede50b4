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

  /**
   * Runs an action at each event from now on, in the place of the ways above: once at once if there
   * is an event, or will be none, and once when the device fails or the channel is closed. It runs
   * on the thread that learns of the event, under locks of the driver: it must return at once and
   * use no verb. To unpark a thread is what it is for.
   *
   * @throws VerbsException EINVAL when the channel is closed, or has an action
   */
  void onEvent(Runnable action);

  /**
   * Says that the calling thread is going to poll a queue of this channel again and again, until
   * {@link #endPolling} or for a few microseconds more. A software HCA leaves its network to such a
   * thread at once; it finds out by itself, but later.
   */
  void beginPolling();

  /**
   * Says that the calling thread has polled for a while, and is about to sleep until the action of
   * {@link #onEvent} wakes it. A software HCA that has left its network to it takes that back at
   * once. The waits above need no such call.
   */
  void endPolling();

  @Override
  void close();
}

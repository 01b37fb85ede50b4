package org.hghca.verbs;

import java.util.Optional;

/**
 * A completion queue: {@code ibv_cq}. Thread-safe. It cannot be overrun: a queue pair is created
 * only when there is room for all outstanding requests of its queues. Closing is idempotent and
 * fails with EBUSY, naming them, while queue pairs use it.
 */
public interface CompletionQueue extends AutoCloseable {

  Context context();

  /** The number of entries: what its creator requested, or more. */
  int entries();

  /**
   * Takes completions from the queue: {@code ibv_poll_cq}.
   *
   * @return how many, at most {@link Completions#capacity}; 0 when there are none
   * @throws VerbsException EIO after a fatal error of the device
   */
  default int poll(Completions completions) {
    return poll(completions, completions.capacity());
  }

  /**
   * Takes at most {@code max} completions from the queue.
   *
   * @param max 0 or more; never more than {@link Completions#capacity} are taken
   * @throws VerbsException EINVAL when it is negative; EIO after a fatal error of the device
   */
  int poll(Completions completions, int max);

  /** The channel that it was created with. */
  Optional<CompletionChannel> channel();

  /**
   * Arms the queue for an event at the next completion: {@code ibv_req_notify_cq}. Completions that
   * are already in the queue give none, so poll after this and before waiting. Arming twice before
   * the event gives one event; arming for all completions overrides arming for solicited ones.
   *
   * @param solicitedOnly only a solicited receive or an error gives the event
   * @throws VerbsException EINVAL when the queue has no channel; EOPNOTSUPP for {@code
   *     solicitedOnly} on a device that does not report which receives are solicited
   */
  void requestNotify(boolean solicitedOnly);

  /**
   * Changes how many completions it must hold: {@code ibv_resize_cq}.
   *
   * @throws VerbsException EINVAL when less than what is reserved and not polled yet, or beyond the
   *     ring that the queue was created with, {@link CompletionQueueConfig#withRingEntries}
   */
  void resize(int entries);

  @Override
  void close();
}

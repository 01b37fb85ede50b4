package org.hghca.verbs;

/**
 * A completion queue: {@code ibv_cq}. Thread-safe. It cannot be overrun: a queue pair is created
 * only when there is room for all that its queues can have outstanding. Closing is idempotent and
 * fails with EBUSY, naming them, while queue pairs use it.
 */
public interface CompletionQueue extends AutoCloseable {

  Context context();

  /** How many completions its creator asked for, or more. */
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
   * @param max at most {@link Completions#capacity}
   */
  int poll(Completions completions, int max);

  /**
   * Changes how many completions it must hold: {@code ibv_resize_cq}.
   *
   * @throws VerbsException EINVAL when less than what is reserved and not polled yet, or beyond the
   *     device's limit
   */
  void resize(int entries);

  @Override
  void close();
}

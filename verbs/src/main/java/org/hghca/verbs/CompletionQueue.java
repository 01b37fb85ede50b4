package org.hghca.verbs;

import java.util.Optional;

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
   * @param max 0 or more; never more than {@link Completions#capacity} are taken
   * @throws IllegalArgumentException when it is negative
   */
  int poll(Completions completions, int max);

  /** The channel that it was made with. */
  Optional<CompletionChannel> channel();

  /**
   * Asks for an event at the next completion: {@code ibv_req_notify_cq}. Completions that are in
   * the queue already give none, so poll after this and before waiting. Asking again before the
   * event asks for one event; asking for all completions outweighs asking for solicited ones.
   *
   * @param solicitedOnly only a solicited receive or an error gives the event
   * @throws VerbsException EINVAL when the queue has no channel; EOPNOTSUPP for {@code
   *     solicitedOnly} on a device that tells nobody which receives were solicited
   */
  void requestNotify(boolean solicitedOnly);

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

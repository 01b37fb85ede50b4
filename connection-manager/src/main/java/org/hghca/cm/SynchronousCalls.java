package org.hghca.cm;

import java.time.Duration;
import java.util.List;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/** The calls of a synchronous identifier, which wait for their event. */
final class SynchronousCalls {
  /** Longer than any carrier tries. */
  static final Duration LIMIT = Duration.ofSeconds(150);

  private final Lifecycle life;

  SynchronousCalls(Lifecycle life) {
    this.life = life;
  }

  /**
   * Waits for the event of a call.
   *
   * @throws VerbsException the failure that comes instead; ETIMEDOUT when none comes; EAGAIN when
   *     the thread is interrupted
   */
  void await(Duration limit, CmEventType... wanted) {
    try {
      CmEvent event =
          life.channel()
              .await(limit)
              .orElseThrow(
                  () ->
                      new VerbsException(
                          Errno.ETIMEDOUT,
                          "no %s within %d ms".formatted(wanted[0].symbol(), limit.toMillis())));
      event.acknowledge();
      if (!List.of(wanted).contains(event.type())) {
        throw event.failure();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new VerbsException(
          Errno.EAGAIN, "interrupted while waiting for " + wanted[0].symbol(), e);
    }
  }
}

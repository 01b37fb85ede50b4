package org.hghca.cm;

import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
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
   * Makes a call, and waits for its event. Events of earlier calls, whose wait timed out or was
   * interrupted, are dropped.
   *
   * @param call whether an event follows
   * @throws VerbsException the failure that comes instead; ETIMEDOUT when none comes; EAGAIN when
   *     the thread is interrupted
   */
  void run(BooleanSupplier call, Duration limit, CmEventType... wanted) {
    synchronized (life) {
      List<CmEvent> earlier = life.untaken();
      if (!call.getAsBoolean()) {
        return;
      }
      life.drop(earlier);
    }
    await(limit, wanted);
  }

  private void await(Duration limit, CmEventType... wanted) {
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

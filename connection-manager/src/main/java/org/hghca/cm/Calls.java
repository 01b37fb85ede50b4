package org.hghca.cm;

import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/** The calls of an identifier: those of a synchronous one wait for their event. */
final class Calls {
  /** Longer than any carrier tries. */
  static final Duration LIMIT = Duration.ofSeconds(150);

  private final CmId id;
  private final boolean synchronous;

  Calls(CmId id, boolean synchronous) {
    this.id = id;
    this.synchronous = synchronous;
  }

  boolean areSynchronous() {
    return synchronous;
  }

  /**
   * Whether requests are waited for.
   *
   * @throws VerbsException EINVAL when they arrive on a channel
   */
  void requireSynchronous() {
    if (!synchronous) {
      throw new VerbsException(
          Errno.EINVAL, "the identifier has a channel, on which its requests arrive");
    }
  }

  /** Makes a call that an event follows. */
  void run(Runnable call, Duration limit, CmEventType... wanted) {
    if (!synchronous) {
      call.run();
      return;
    }
    BooleanSupplier followed =
        () -> {
          call.run();
          return true;
        };
    run(followed, limit, wanted);
  }

  /**
   * Makes a call; of a synchronous identifier, waits for its event. Events of earlier calls, whose
   * wait timed out or was interrupted, are dropped.
   *
   * @param call whether an event follows
   * @throws VerbsException the failure that comes instead; ETIMEDOUT when none comes; EAGAIN when
   *     the thread is interrupted
   */
  void run(BooleanSupplier call, Duration limit, CmEventType... wanted) {
    if (!synchronous) {
      var _ = call.getAsBoolean();
      return;
    }
    synchronized (id.life()) {
      List<CmEvent> earlier = id.channel().eventsOf(id);
      if (!call.getAsBoolean()) {
        return;
      }
      id.channel().drop(earlier);
    }
    await(limit, wanted);
  }

  private void await(Duration limit, CmEventType... wanted) {
    try {
      CmEvent event =
          id.channel()
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

package org.hghca.cm;

import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.hghca.cm.device.Releases;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/**
 * The connections that a server has answered, whose peers are to confirm: none waits for another,
 * and no thread waits for any. Thread-safe.
 */
final class Acceptances {
  private static final ConditionLog LOG = ConditionLog.of(Acceptances.class);

  private static final String CLOSED = "the server is closed";

  private final Set<RdmaConnection> pending = new HashSet<>();
  private final Queue<RdmaConnection> confirmed = new ArrayDeque<>();
  private CompletableFuture<Void> change = new CompletableFuture<>();
  private boolean closed;

  /**
   * Waits for the confirmation of a connection; closes it when none comes in time, or when this is
   * closed already.
   */
  void add(RdmaConnection connection) {
    if (!join(connection)) {
      abandon(connection, new VerbsException(Errno.EINVAL, CLOSED));
      return;
    }
    var _ =
        connection
            .confirmed()
            .whenCompleteAsync(
                (_, failure) -> settle(connection, Optional.ofNullable(failure)),
                Thread::startVirtualThread);
  }

  private synchronized boolean join(RdmaConnection connection) {
    return !closed && pending.add(connection);
  }

  private void settle(RdmaConnection connection, Optional<Throwable> failure) {
    failure.ifPresent(cause -> abandon(connection, cause));
    CompletableFuture<Void> changed;
    synchronized (this) {
      if (pending.remove(connection) && failure.isEmpty()) {
        confirmed.add(connection);
      }
      changed = change;
      change = new CompletableFuture<>();
    }
    changed.complete(null);
  }

  private static void abandon(RdmaConnection connection, Throwable cause) {
    LOG.debug(About.NOTHING, "{}: not confirmed", connection, cause);
    try {
      connection.abandon();
    } catch (VerbsException e) {
      LOG.warn(
          About.device(connection.context().device().name()),
          "{} is not closed: {}",
          connection,
          e.getMessage());
    }
  }

  /** Completes when one more is confirmed or has failed. */
  synchronized CompletableFuture<Void> change() {
    return change;
  }

  /**
   * The first that is confirmed.
   *
   * @throws VerbsException EINVAL after the end
   */
  synchronized Optional<RdmaConnection> poll() {
    if (closed) {
      throw new VerbsException(Errno.EINVAL, CLOSED);
    }
    return Optional.ofNullable(confirmed.poll());
  }

  /** Whether a confirmation may come. */
  synchronized boolean isPending() {
    return !pending.isEmpty();
  }

  /**
   * Closes what nobody has taken. Idempotent.
   *
   * @param releases where it is done
   */
  synchronized void close(Releases releases) {
    closed = true;
    pending.forEach(connection -> releases.add(connection::abandon));
    confirmed.forEach(connection -> releases.add(connection::abandon));
    confirmed.clear();
    CompletableFuture<Void> last = change;
    releases.add(() -> last.complete(null));
  }
}

package org.hghca.tools.raw;

import java.util.concurrent.ExecutionException;
import org.hghca.mailbox.DeviceFatalException;

/** The card no longer responds; only a reset can help. */
public final class CardStoppedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** What it no longer answered, and what was seen. */
  public CardStoppedException(String message) {
    super(message);
  }

  /** Whether a failure is that of a card that no longer responds. */
  public static boolean isBehind(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof CardStoppedException || cause instanceof DeviceFatalException) {
        return true;
      }
    }
    return false;
  }

  /** The failure of work that accesses the card on a thread of its own. */
  public static RuntimeException failureOf(ExecutionException ended) {
    return switch (ended.getCause()) {
      case RuntimeException failure -> failure;
      // A mapped register that is gone faults; the JVM reports that as an InternalError.
      case InternalError fault ->
          new CardStoppedException("an access to a register faulted: " + fault.getMessage());
      case Error error -> throw error;
      default -> new IllegalStateException(ended.getCause());
    };
  }
}

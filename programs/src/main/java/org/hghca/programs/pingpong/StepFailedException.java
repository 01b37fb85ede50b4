package org.hghca.programs.pingpong;

import java.util.function.Supplier;
import org.hghca.programs.peer.PeerException;
import org.hghca.verbs.VerbsException;

/** A step failed: the message is the line that the original prints, the cause says why. */
final class StepFailedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  StepFailedException(String line) {
    super(line);
  }

  StepFailedException(String line, Throwable cause) {
    super(line, cause);
  }

  /** The call of a verb that returns something. */
  static <T> T make(String otherwise, Supplier<T> call) {
    try {
      return call.get();
    } catch (VerbsException e) {
      throw new StepFailedException(otherwise, e);
    }
  }

  /** The call of a verb. */
  static void run(String otherwise, Runnable call) {
    try {
      call.run();
    } catch (VerbsException e) {
      throw new StepFailedException(otherwise, e);
    }
  }

  /** A part of the exchange with the peer. */
  interface Talk<T> {
    T get() throws InterruptedException;
  }

  /** A part of the exchange with the peer. */
  static <T> T talk(String otherwise, Talk<T> part) throws InterruptedException {
    try {
      return part.get();
    } catch (PeerException e) {
      throw new StepFailedException(otherwise, e);
    }
  }
}

package org.hghca.provider;

import java.util.ArrayDeque;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/**
 * What must be taken back, last thing first, when a construction of several steps fails: closing it
 * takes back all that was not {@linkplain #forget forgotten}.
 */
public final class Undo implements AutoCloseable {
  private final ArrayDeque<Runnable> steps = new ArrayDeque<>();

  public void add(Runnable step) {
    steps.push(step);
  }

  /** The construction succeeded: nothing is taken back. */
  public void forget() {
    steps.clear();
  }

  /** Takes back; a step that fails keeps none of the others from being taken back. */
  @Override
  public void close() {
    RuntimeException failure = null;
    while (!steps.isEmpty()) {
      try {
        steps.pop().run();
      } catch (RuntimeException e) {
        failure = with(failure, e);
      } catch (InternalError e) { // mapped registers fault when their device is gone
        failure = with(failure, new VerbsException(Errno.EIO, e.getMessage(), e));
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  private static RuntimeException with(RuntimeException first, RuntimeException another) {
    if (first == null) {
      return another;
    }
    first.addSuppressed(another);
    return first;
  }
}

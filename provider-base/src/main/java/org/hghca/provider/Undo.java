package org.hghca.provider;

import java.util.ArrayDeque;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/**
 * The undo steps, in reverse order, of a construction that fails: closing it undoes all steps that
 * were not {@linkplain #forget forgotten}.
 */
public final class Undo implements AutoCloseable {
  private final ArrayDeque<Runnable> steps = new ArrayDeque<>();

  public void add(Runnable step) {
    steps.push(step);
  }

  /** The construction succeeded: nothing is undone. */
  public void forget() {
    steps.clear();
  }

  /** Undoes all steps; a failing step does not prevent the others. */
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

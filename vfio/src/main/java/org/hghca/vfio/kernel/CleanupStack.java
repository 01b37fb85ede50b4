package org.hghca.vfio.kernel;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * What to undo, the last first: when all goes well at the end, when a step fails at once. Not
 * thread-safe; taking back twice does nothing.
 */
final class CleanupStack implements AutoCloseable {
  private final Deque<Runnable> steps = new ArrayDeque<>();

  void add(Runnable step) {
    steps.push(step);
  }

  /** Takes all back, also what comes after a step that fails; the first failure is thrown then. */
  @Override
  public void close() {
    RuntimeException failure = null;
    while (!steps.isEmpty()) {
      try {
        steps.pop().run();
      } catch (RuntimeException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  /** Takes all back because of a failure, which is what counts then. */
  <T extends Throwable> T because(T failure) {
    try {
      close();
    } catch (RuntimeException e) {
      failure.addSuppressed(e);
    }
    return failure;
  }
}

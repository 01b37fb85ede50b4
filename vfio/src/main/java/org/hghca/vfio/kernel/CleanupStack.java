package org.hghca.vfio.kernel;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Steps to undo, in reverse order: at the end if all succeeds, at once if a step fails. Not
 * thread-safe; undoing twice does nothing.
 */
final class CleanupStack implements AutoCloseable {
  private final Deque<Runnable> steps = new ArrayDeque<>();

  void add(Runnable step) {
    steps.push(step);
  }

  /** Undoes all steps, even if one fails; then throws the first failure. */
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

  /** Undoes all steps because of a failure; that failure takes precedence. */
  <T extends Throwable> T because(T failure) {
    try {
      close();
    } catch (RuntimeException e) {
      failure.addSuppressed(e);
    }
    return failure;
  }
}

package org.hghca.vfio;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Steps that undo what was done, last first: when it ends, or at once when a later step fails. Not
 * thread-safe; undoing twice does nothing.
 */
public class UndoStack implements AutoCloseable {
  private final Deque<Runnable> steps = new ArrayDeque<>();

  /** Adds a step, which is undone before those that were added earlier. */
  public final void add(Runnable step) {
    steps.push(step);
  }

  /** A construction succeeded: nothing is undone. */
  public final void forget() {
    steps.clear();
  }

  /**
   * Undoes all steps; a failing step does not prevent the others.
   *
   * @throws RuntimeException the first failure, with the others suppressed in it
   */
  @Override
  public final void close() {
    RuntimeException failure = null;
    while (!steps.isEmpty()) {
      try {
        steps.pop().run();
      } catch (RuntimeException e) {
        failure = with(failure, e);
      } catch (InternalError e) { // mapped registers fault when their device is gone
        failure = with(failure, fault(e));
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

  /** The failure of a step that faults since the registers of the function are gone. */
  protected RuntimeException fault(InternalError cause) {
    return new VfioException(VfioException.Reason.CLOSED, cause.getMessage(), cause);
  }

  /** Undoes all steps because of a failure, which has precedence: those of steps are suppressed. */
  public final <T extends Throwable> T because(T failure) {
    try {
      close();
    } catch (RuntimeException e) {
      failure.addSuppressed(e);
    }
    return failure;
  }
}

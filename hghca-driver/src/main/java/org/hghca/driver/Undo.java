package org.hghca.driver;

import java.util.ArrayDeque;

/**
 * What must be taken back, last thing first, when a construction of several steps fails: closing it
 * takes back all that was not {@linkplain #forget forgotten}.
 */
final class Undo implements AutoCloseable {
  private final ArrayDeque<Runnable> steps = new ArrayDeque<>();

  void add(Runnable step) {
    steps.push(step);
  }

  /** The construction succeeded: nothing is taken back. */
  void forget() {
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
}

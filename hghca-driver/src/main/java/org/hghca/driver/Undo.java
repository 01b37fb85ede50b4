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

  @Override
  public void close() {
    while (!steps.isEmpty()) {
      steps.pop().run();
    }
  }
}

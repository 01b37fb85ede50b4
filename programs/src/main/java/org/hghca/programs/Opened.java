package org.hghca.programs;

import java.util.ArrayDeque;
import java.util.Deque;

/** What was opened, to be closed in reverse order. Not thread-safe. */
public final class Opened implements AutoCloseable {
  private final Deque<AutoCloseable> all = new ArrayDeque<>();

  public <T extends AutoCloseable> T add(T resource) {
    all.push(resource);
    return resource;
  }

  /**
   * Closes them, the last one first. The first failure is thrown after the others are closed, with
   * theirs suppressed.
   */
  @Override
  public void close() {
    RuntimeException failure = null;
    while (!all.isEmpty()) {
      try {
        all.pop().close();
      } catch (Exception e) {
        if (failure == null) {
          failure =
              e instanceof RuntimeException unchecked ? unchecked : new IllegalStateException(e);
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

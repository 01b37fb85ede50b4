package org.hghca.cm.device;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What a closing object releases: collected under its lock, and run after it, since the release of
 * a device may wait for a thread that takes the lock. Each release is run although others fail.
 */
public final class Releases {
  private final List<Runnable> due = new ArrayList<>();
  private Optional<RuntimeException> failure = Optional.empty();

  /** Runs something later, after what was added before. */
  public void add(Runnable release) {
    due.add(release);
  }

  /**
   * Runs all, once, in order.
   *
   * @throws RuntimeException the first failure, with the others suppressed in it
   */
  public void run() {
    due.forEach(this::attempt);
    due.clear();
    if (failure.isPresent()) {
      throw failure.get();
    }
  }

  private void attempt(Runnable release) {
    try {
      release.run();
    } catch (RuntimeException e) {
      failure.ifPresentOrElse(first -> first.addSuppressed(e), () -> failure = Optional.of(e));
    }
  }
}

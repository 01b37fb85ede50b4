package org.hghca.tools.bringup.step;

/** Gets what a long step says while it runs. Called by the thread of the session. */
public interface StepWatcher {
  /** How far the step is; until the next line, or its end. */
  void progress(String line);

  /** An error after which the step continues. */
  void error(String line);

  /** Ignores everything. */
  static StepWatcher none() {
    return new StepWatcher() {
      @Override
      public void progress(String line) {}

      @Override
      public void error(String line) {}
    };
  }
}

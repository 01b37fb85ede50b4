package org.hghca.programs.perf.run;

/** Is told when measurements begin and end, by the thread that measures. */
public interface Watcher {
  /** A measurement begins; how far it is can be read from any thread. */
  void begins(Progress progress);

  /** The measurement has ended, and its row follows. */
  void ends();

  /** One that does nothing. */
  static Watcher none() {
    return new Watcher() {
      @Override
      public void begins(Progress progress) {
        // Nobody watches.
      }

      @Override
      public void ends() {
        // Nobody watches.
      }
    };
  }
}

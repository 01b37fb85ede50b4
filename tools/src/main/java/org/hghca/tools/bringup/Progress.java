package org.hghca.tools.bringup;

import org.hghca.tools.bringup.step.StepResult;

/** Hears of steps as they end, on the thread that runs the rounds. */
public interface Progress {
  /**
   * A round begins.
   *
   * @param number from 1
   */
  void round(int number);

  /** A step of the round has ended. */
  void step(StepResult result);

  /** Tells another one, too, after this one. */
  default Progress and(Progress other) {
    Progress first = this;
    return new Progress() {
      @Override
      public void round(int number) {
        first.round(number);
        other.round(number);
      }

      @Override
      public void step(StepResult result) {
        first.step(result);
        other.step(result);
      }
    };
  }
}

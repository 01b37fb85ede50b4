package org.hghca.tools.bringup.step;

/** A step applies to the device, but what it is about cannot be observed here. */
public final class StepNotJudgedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  StepNotJudgedException(String message) {
    super(message);
  }
}

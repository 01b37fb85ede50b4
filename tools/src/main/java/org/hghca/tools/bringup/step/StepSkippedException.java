package org.hghca.tools.bringup.step;

/** The step does not apply here. */
public final class StepSkippedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  StepSkippedException(String message) {
    super(message);
  }
}

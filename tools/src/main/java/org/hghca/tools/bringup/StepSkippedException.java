package org.hghca.tools.bringup;

/** The step does not apply here. */
final class StepSkippedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  StepSkippedException(String message) {
    super(message);
  }
}

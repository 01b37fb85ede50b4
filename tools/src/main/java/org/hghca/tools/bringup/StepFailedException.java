package org.hghca.tools.bringup;

/** Something was not as expected. */
final class StepFailedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  StepFailedException(String message) {
    super(message);
  }
}

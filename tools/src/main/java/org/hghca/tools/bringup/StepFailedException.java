package org.hghca.tools.bringup;

/** An actual value differs from the expected one. */
final class StepFailedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  StepFailedException(String message) {
    super(message);
  }
}

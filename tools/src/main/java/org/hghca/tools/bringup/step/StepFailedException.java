package org.hghca.tools.bringup.step;

/** An actual value differs from the expected one. */
public final class StepFailedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public StepFailedException(String message) {
    super(message);
  }
}

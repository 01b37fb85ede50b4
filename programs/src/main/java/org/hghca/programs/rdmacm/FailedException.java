package org.hghca.programs.rdmacm;

/** A program ends early; its line says why. */
final class FailedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int status;

  /**
   * It ends.
   *
   * @param status that it returns
   */
  FailedException(int status, String line) {
    super(line);
    this.status = status;
  }

  int status() {
    return status;
  }
}

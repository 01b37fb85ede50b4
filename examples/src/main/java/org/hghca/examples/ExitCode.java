package org.hghca.examples;

/** How a program ends: the codes of the command line of hghca, and one more. */
enum ExitCode {
  OK(0),
  FAILED(1),
  USAGE(2),
  NOT_OPENED(3),
  /** The device lacks what the program is about. */
  UNSUPPORTED(6);

  private final int code;

  ExitCode(int code) {
    this.code = code;
  }

  int code() {
    return code;
  }
}

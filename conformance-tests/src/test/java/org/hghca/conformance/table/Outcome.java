package org.hghca.conformance.table;

/**
 * The result of a case; of several invocations the worst one counts, which is the last of these.
 */
enum Outcome {
  /** The profile lacks what the test needs. */
  UNSUPPORTED("UNSUPPORTED"),
  PASSED("passed"),
  NOT_RUN("not run"),
  FAILED("failed");

  private final String text;

  Outcome(String text) {
    this.text = text;
  }

  String text() {
    return text;
  }

  Outcome worse(Outcome other) {
    return compareTo(other) >= 0 ? this : other;
  }
}

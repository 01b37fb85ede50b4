package org.hghca.tools.bringup;

/** How a step ended. */
public enum Verdict {
  /** Everything was as expected. */
  PASS,
  /** No failure, but it needs attention. */
  WARN,
  /** It was skipped; the reason says why. */
  SKIP,
  /** An actual value differs from the expected one. */
  FAIL;

  /** Whether steps that need this one can run. */
  boolean isGood() {
    return this == PASS || this == WARN;
  }
}

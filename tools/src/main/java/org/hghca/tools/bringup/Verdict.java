package org.hghca.tools.bringup;

/** How a step ended. */
public enum Verdict {
  /** Everything was as expected. */
  PASS,
  /** Nothing is broken, but somebody should look. */
  WARN,
  /** It was not done; the reason says why. */
  SKIP,
  /** Something was not as expected. */
  FAIL;

  /** Whether steps that need this one can be done. */
  boolean isGood() {
    return this == PASS || this == WARN;
  }
}

package org.hghca.tools.bringup.step;

/** How a step ended. */
public enum Verdict {
  /** Everything was as expected. */
  PASS("PASS"),
  /** No failure, but it needs attention. */
  WARN("WARN"),
  /** It does not apply to the device, or was left out; the reason says why. */
  SKIP("SKIP"),
  /** It applies to the device, and what it is about could not be observed; the reason says why. */
  NOT_JUDGED("OPEN"),
  /** An actual value differs from the expected one. */
  FAIL("FAIL");

  private final String label;

  Verdict(String label) {
    this.label = label;
  }

  /** Four letters. */
  public String label() {
    return label;
  }

  /** Whether steps that need this one can run. */
  public boolean isGood() {
    return this == PASS || this == WARN;
  }

  /** Whether the step was tried, up to a result about the device. */
  public boolean isResult() {
    return isGood() || this == FAIL;
  }

  /** Whether it says more than another one of the same step; a step that is left out says least. */
  public boolean outweighs(Verdict other) {
    return this != SKIP && (other == SKIP || compareTo(other) > 0);
  }
}

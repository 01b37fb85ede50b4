package org.hghca.conformance.table;

import java.util.Comparator;

/**
 * A line of the table.
 *
 * @param test {@code Class#method} of the test that proves it; empty when there is none
 * @param remark why there is none
 * @param unsupported whether a success proves that the device refuses it
 */
record Row(Tier tier, String source, String says, String test, String remark, boolean unsupported) {
  static final String UNSUPPORTED = "UNSUPPORTED";

  static final Comparator<Row> ORDER =
      Comparator.comparing(Row::tier)
          .thenComparing(Row::source)
          .thenComparing(Row::says)
          .thenComparing(Row::test);

  static Row of(VerbsCase verbsCase, String test) {
    return new Row(
        verbsCase.tier(), verbsCase.source(), verbsCase.says(), test, "", verbsCase.unsupported());
  }

  boolean hasTest() {
    return !test.isEmpty();
  }

  /** All columns but the result. */
  String prefix() {
    String proof = hasTest() ? "`" + test.substring(test.lastIndexOf('.') + 1) + "`" : remark;
    return "| %s | %s | %s |".formatted(source, says, proof);
  }

  /** What the result column says. */
  String result(Outcome outcome) {
    if (!hasTest()) {
      return unsupported ? UNSUPPORTED : "not applicable";
    }
    return outcome == Outcome.PASSED && unsupported ? UNSUPPORTED : outcome.text();
  }
}

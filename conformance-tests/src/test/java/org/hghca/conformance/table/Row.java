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

  /** A result without its reason. */
  static String kind(String result) {
    return result.startsWith(UNSUPPORTED) ? UNSUPPORTED : result.split(", but", 2)[0];
  }

  /** All columns but the results. */
  String prefix() {
    String proof = hasTest() ? "`" + test.substring(test.lastIndexOf('.') + 1) + "`" : remark;
    return "| %s | %s | %s |".formatted(source, says, proof);
  }

  /** The text of a profile's column. */
  String result(Result result) {
    if (!hasTest()) {
      return unsupported ? UNSUPPORTED : "not applicable";
    }
    return result.outcome() == Outcome.PASSED && unsupported ? UNSUPPORTED : result.text();
  }
}

package org.hghca.programs.perf.compare;

/** A figure of a result that is compared. */
public enum Metric {
  THROUGHPUT("BW_average", true),
  MEDIAN("t_typical", false),
  PERCENTILE_99("percentile_99", false),
  AVERAGE_BY_TIME("t_avg", false);

  private final String key;
  private final boolean more;

  Metric(String key, boolean more) {
    this.key = key;
    this.more = more;
  }

  /** Its key in the JSON, which perftest chose. */
  public String key() {
    return key;
  }

  /** Whether more is better. */
  boolean isMoreBetter() {
    return more;
  }
}

package org.hghca.provider.snapshot;

import org.hghca.verbs.Counter;

/**
 * A number that a snapshot has of each thing of a kind.
 *
 * @param name in small letters; one that ends with {@code _bytes} is in bytes
 * @param isGauge whether it tells what there is at the moment, and not what was counted
 * @param description in one line
 */
public record Metric(String name, boolean isGauge, String description) {
  private static final String BYTES = "bytes";

  static Metric of(Counter counter) {
    return new Metric(counter.text(), counter.isGauge(), counter.description());
  }

  static Metric counted(String name, String description) {
    return new Metric(name, false, description);
  }

  /** {@code bytes}, or nothing where it is a plain number. */
  public String unit() {
    return name.endsWith("_" + BYTES) ? BYTES : "";
  }
}

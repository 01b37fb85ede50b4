package org.hghca.tools.demo;

import java.util.concurrent.TimeUnit;

/**
 * The parameters of the measurements.
 *
 * @param nanos duration of all measurements, at most an hour
 * @param messageBytes the size of large messages, 8 to 2^20
 */
record Plan(long nanos, int messageBytes) {
  static final Message<Plan> MESSAGE = new Message<>("plan", Plan::toText, Plan::parse);

  private static final long MAX_NANOS = TimeUnit.HOURS.toNanos(1);
  private static final int MIN_BYTES = 8;

  /** The size that fits one scatter/gather element of every device. */
  private static final int MAX_BYTES = 1 << 20;

  Plan {
    if (nanos < 0 || nanos > MAX_NANOS) {
      throw new IllegalArgumentException("the time must be 0 to %d ns".formatted(MAX_NANOS));
    }
    if (messageBytes < MIN_BYTES || messageBytes > MAX_BYTES) {
      throw new IllegalArgumentException(
          "a message must have %d to %d bytes".formatted(MIN_BYTES, MAX_BYTES));
    }
  }

  private String toText() {
    return "%d %d".formatted(nanos, messageBytes);
  }

  private static Plan parse(String text) {
    String[] parts = text.split(" ", -1);
    if (parts.length != 2) {
      throw new IllegalArgumentException("expected a time and a size");
    }
    return new Plan(Long.parseLong(parts[0]), Integer.parseInt(parts[1]));
  }
}

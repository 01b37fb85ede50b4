package org.hghca.wire.capture;

import java.time.Instant;
import java.util.Optional;

/**
 * The time unit of an interface of a pcapng file (options if_tsresol and if_tsoffset).
 *
 * @param resolution 0 to 127: units of ten to the power of minus this; from 128: of two
 * @param offset seconds that are added
 */
record TimeUnits(int resolution, long offset) {
  /** The default of the format: microseconds. */
  static final TimeUnits DEFAULT = new TimeUnits(6, 0);

  private static final int BINARY = 0x80;
  private static final int MOST_DECIMAL = 19;
  private static final long NANOS = 1_000_000_000;

  /** Whether the unit is supported. */
  boolean isKnown() {
    return resolution <= MOST_DECIMAL || resolution >= BINARY && resolution < BINARY + Long.SIZE;
  }

  /**
   * A time.
   *
   * @param count an unsigned number of units
   * @return none when it is out of range
   */
  Optional<Instant> time(long count) {
    long seconds;
    long nanos;
    if (resolution >= BINARY) {
      int bits = resolution - BINARY;
      seconds = count >>> bits;
      nanos = bits == 0 ? 0 : Math.unsignedMultiplyHigh(count << Long.SIZE - bits, NANOS);
    } else {
      long unit = power(resolution);
      seconds = Long.divideUnsigned(count, unit);
      long rest = Long.remainderUnsigned(count, unit);
      nanos =
          resolution <= 9
              ? rest * power(9 - resolution)
              : Long.divideUnsigned(rest, power(resolution - 9));
    }
    long sum = seconds + offset;
    boolean near =
        seconds >= 0
            && (sum >= seconds) == (offset >= 0)
            && sum >= Instant.MIN.getEpochSecond()
            && sum <= Instant.MAX.getEpochSecond();
    return near ? Optional.of(Instant.ofEpochSecond(sum, nanos)) : Optional.empty();
  }

  private static long power(int exponent) {
    long power = 1;
    for (int i = 0; i < exponent; i++) {
      power *= 10;
    }
    return power;
  }
}

package org.hghca.programs.perf.result;

import java.nio.ByteBuffer;

/**
 * The figures of one side, which the other prints. Rates are in the units that the side was asked
 * for.
 *
 * @param size bytes of a message
 * @param iterations messages
 * @param peak 0 when it was not searched
 * @param average MiB/s or Gb/s
 * @param messageRate millions of messages a second
 */
public record BandwidthReport(
    long size, long iterations, double peak, double average, double messageRate) implements Figure {
  /** Below it, Gb/s have more digits. */
  private static final double FEW_GIGABITS = 0.1;

  /** Digits behind the point that perftest prints of peak and average. */
  public int digits(boolean gigabits) {
    return gigabits && average < FEW_GIGABITS ? 6 : 2;
  }

  /** The five values, 8 bytes each, in the order of the wire. */
  public byte[][] toMessages() {
    return new byte[][] {
      bytes(size),
      bytes(iterations),
      bytes(Double.doubleToRawLongBits(peak)),
      bytes(Double.doubleToRawLongBits(average)),
      bytes(Double.doubleToRawLongBits(messageRate))
    };
  }

  private static byte[] bytes(long value) {
    return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
  }

  /** Reads them. */
  public static BandwidthReport parse(byte[][] messages) {
    return new BandwidthReport(
        ByteBuffer.wrap(messages[0]).getLong(),
        ByteBuffer.wrap(messages[1]).getLong(),
        ByteBuffer.wrap(messages[2]).getDouble(),
        ByteBuffer.wrap(messages[3]).getDouble(),
        ByteBuffer.wrap(messages[4]).getDouble());
  }

  /** Both directions together. */
  public BandwidthReport plus(BandwidthReport other) {
    return new BandwidthReport(
        size,
        iterations,
        peak + other.peak,
        average + other.average,
        messageRate + other.messageRate);
  }
}

package org.hghca.programs.perf.run;

import java.util.concurrent.atomic.AtomicLong;
import org.hghca.programs.perf.Parameters;

/** How far a measurement is. One thread measures, any thread reads. */
public final class Progress {
  private static final double SECOND = 1e9;
  private static final double MEBIBYTE = 1 << 20;

  private final Parameters parameters;
  private final long size;
  private final long start = System.nanoTime();
  private final AtomicLong done = new AtomicLong();

  /**
   * Begins now.
   *
   * @param size bytes of a message
   */
  Progress(Parameters parameters, long size) {
    this.parameters = parameters;
    this.size = size;
  }

  /** Sets the messages so far; as cheap as a store. */
  void done(long messages) {
    done.setOpaque(messages);
  }

  /** Messages so far. */
  public long messages() {
    return done.getOpaque();
  }

  /** Bytes, messages, seconds and the rate so far, such as a line has room for. */
  public String text() {
    long messages = messages();
    double seconds = (System.nanoTime() - start) / SECOND;
    Parameters.Amount amount = parameters.amount();
    String time =
        amount
            .span()
            .map(span -> "%.1f of %.1f s".formatted(seconds, span.whole().toNanos() / SECOND))
            .orElse("%.1f s".formatted(seconds));
    String extent =
        amount.span().isPresent()
            ? "%d done".formatted(messages)
            : "%d of %d".formatted(messages, amount.iterations() * parameters.queues().pairs());
    String rate =
        parameters.test().isBandwidth()
            ? "%.1f MiB/s".formatted(messages * size / MEBIBYTE / seconds)
            : "%.0f/s".formatted(messages / seconds);
    return "%d bytes, %s, %s, %s".formatted(size, time, extent, rate);
  }
}

package org.hghca.verbs;

import java.util.ServiceLoader;
import org.hghca.verbs.spi.MetricsSource;

/** The counters of this process for a collector, such as Prometheus. Thread-safe. */
public final class RdmaMetrics {
  /** The media type of {@link #openMetrics}, for the header Content-Type of HTTP. */
  public static final String MEDIA_TYPE =
      "application/openmetrics-text; version=1.0.0; charset=utf-8";

  private RdmaMetrics() {}

  /**
   * The counters of all devices that this process has open, as they are now, as the text of
   * OpenMetrics 1.0: those of {@link Counter} for each context, and those of queue pairs,
   * completion queues, ports and links. Not for data paths: it takes some microseconds for each
   * queue pair.
   *
   * @return the whole text; {@code # EOF} alone when no device is open
   */
  public static String openMetrics() {
    return ServiceLoader.load(MetricsSource.class)
        .findFirst()
        .map(MetricsSource::openMetrics)
        .orElse("# EOF\n");
  }
}

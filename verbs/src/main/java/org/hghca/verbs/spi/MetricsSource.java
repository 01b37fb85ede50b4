package org.hghca.verbs.spi;

/** Has the counters of this process as text. Found with {@link java.util.ServiceLoader}. */
public interface MetricsSource {

  /** As {@link org.hghca.verbs.RdmaMetrics#openMetrics}. */
  String openMetrics();
}

package org.hghca.provider.snapshot;

import org.hghca.verbs.spi.MetricsSource;

/** The metrics of the devices of this process. */
public final class OwnMetrics implements MetricsSource {
  /** Used by the service loader. */
  public OwnMetrics() {}

  @Override
  public String openMetrics() {
    return OpenMetrics.text(OpenSnapshots.now());
  }
}

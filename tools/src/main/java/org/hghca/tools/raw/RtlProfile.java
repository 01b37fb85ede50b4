package org.hghca.tools.raw;

import java.util.Optional;
import org.hghca.abi.DeviceLimits;
import org.hghca.abi.HardwareProfile;

/** Which of the makers' RTLs a card is. */
public final class RtlProfile {
  private static final int R1_QPS_LOG = 14;
  private static final int R1_CQS_LOG = 13;
  private static final int R2_LOG = 8;

  private RtlProfile() {}

  /**
   * The profile of an RTL.
   *
   * @param limits its answer to QUERY_DEV_LIM
   * @return empty when it is neither
   */
  public static Optional<HardwareProfile> of(DeviceLimits limits) {
    int qps = limits.maxQpsLog();
    int cqs = limits.maxCqsLog();
    if (qps == R1_QPS_LOG && cqs == R1_CQS_LOG) {
      return Optional.of(HardwareProfile.R1);
    }
    return qps == R2_LOG && cqs == R2_LOG ? Optional.of(HardwareProfile.R2) : Optional.empty();
  }
}

package org.hghca.model.virtio;

import java.util.Map;
import java.util.stream.LongStream;
import org.hghca.virtio.abi.Feature;
import org.hghca.virtio.abi.net.NetFeature;
import org.hghca.virtio.abi.roce.Dialect;

/**
 * The features that a device offers, and what a driver may accept of them.
 *
 * @param offered mask of the features
 */
record FeatureRules(long offered) {
  /** What a driver must accept; addresses are translated by an IOMMU, if there is one. */
  private static final long NEEDED = mask(Feature.VERSION_1, Feature.ACCESS_PLATFORM);

  /** Features that need another one. */
  private static final Map<Integer, Integer> NEEDS =
      Map.of(NetFeature.CTRL_RX, NetFeature.CTRL_VQ, NetFeature.CTRL_MAC_ADDR, NetFeature.CTRL_VQ);

  /** A NIC without offloads. */
  static final FeatureRules NIC =
      new FeatureRules(
          mask(
              NetFeature.MTU,
              NetFeature.MAC,
              NetFeature.STATUS,
              NetFeature.CTRL_VQ,
              NetFeature.CTRL_RX,
              NetFeature.CTRL_MAC_ADDR,
              Feature.INDIRECT_DESC,
              Feature.EVENT_IDX,
              Feature.VERSION_1,
              Feature.ACCESS_PLATFORM,
              Feature.RING_RESET));

  /** The same with RoCE queues in a dialect. */
  static FeatureRules roce(Dialect dialect) {
    return new FeatureRules(NIC.offered | 1L << dialect.feature());
  }

  private static long mask(long... bits) {
    return LongStream.of(bits).map(bit -> 1L << bit).reduce(0, (a, b) -> a | b);
  }

  /** Why a driver may not have these features, empty if it may. */
  String refusal(long accepted) {
    long missing = NEEDED & ~accepted;
    if ((accepted & ~offered) != 0) {
      return name(accepted & ~offered) + " was not offered";
    }
    if (missing != 0) {
      return name(missing) + " must be accepted";
    }
    for (Map.Entry<Integer, Integer> need : NEEDS.entrySet()) {
      if ((accepted & 1L << need.getKey()) != 0 && (accepted & 1L << need.getValue()) == 0) {
        return NetFeature.name(need.getKey()) + " needs " + NetFeature.name(need.getValue());
      }
    }
    boolean hasControl = (accepted & 1L << NetFeature.CTRL_VQ) != 0;
    return (accepted & ~NIC.offered) != 0 && !hasControl
        ? "RoCE needs " + NetFeature.name(NetFeature.CTRL_VQ)
        : "";
  }

  private static String name(long features) {
    return NetFeature.name(Long.numberOfTrailingZeros(features));
  }
}

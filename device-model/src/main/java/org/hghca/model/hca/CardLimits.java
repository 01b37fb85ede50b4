package org.hghca.model.hca;

import static org.hghca.abi.DeviceExtension.ALTERNATE_PATHS;
import static org.hghca.abi.DeviceExtension.COMPLETION_RING_OFFSETS;
import static org.hghca.abi.DeviceExtension.FLOW_LABELS;
import static org.hghca.abi.DeviceExtension.GSI_QUEUE_PAIR;
import static org.hghca.abi.DeviceExtension.IPV6_ADDRESSES;
import static org.hghca.abi.DeviceExtension.MULTICAST;
import static org.hghca.abi.DeviceExtension.NEIGHBOR_DISCOVERY;
import static org.hghca.abi.DeviceExtension.RINGS_OF_ALL_DOMAINS;
import static org.hghca.abi.DeviceExtension.RING_OFFSETS;
import static org.hghca.abi.DeviceExtension.SHARED_RECEIVE_QUEUES;

import java.util.EnumSet;
import java.util.Set;
import org.hghca.abi.DeviceExtension;
import org.hghca.abi.DeviceLimits;
import org.hghca.wire.EthernetPort;

/** The limits of the card, as QUERY_DEV_LIM has them. */
final class CardLimits {
  private static final int MTU_4096 = 5;

  /** The code of an MTU of 2^n bytes is n less this. */
  private static final int MTU_LOG = 7;

  /** Some for each of thousands of connections; the RTL has 2^14. */
  private static final int MEMORY_KEYS_LOG = 17;

  /**
   * What the RTL answers to QUERY_DEV_LIM, because the document names no values; plus more memory
   * keys, and the extensions.
   */
  static final DeviceLimits ALL =
      limits(
          MTU_4096,
          EnumSet.of(
              SHARED_RECEIVE_QUEUES,
              RING_OFFSETS,
              COMPLETION_RING_OFFSETS,
              RINGS_OF_ALL_DOMAINS,
              IPV6_ADDRESSES,
              FLOW_LABELS,
              MULTICAST,
              ALTERNATE_PATHS,
              GSI_QUEUE_PAIR));

  private static DeviceLimits limits(int maxMtu, Set<DeviceExtension> extensions) {
    return new DeviceLimits(
        1,
        0,
        0,
        0,
        0,
        0,
        13,
        16,
        14,
        13,
        5,
        MEMORY_KEYS_LOG,
        12,
        0,
        1,
        8,
        256,
        128,
        64,
        64,
        0,
        maxMtu,
        0,
        15,
        1,
        12,
        16,
        512,
        16,
        512,
        0x1234_5678_8765_0000L,
        extensions);
  }

  private CardLimits() {}

  /** The limits, with what the port's medium makes of them. */
  static DeviceLimits of(EthernetPort port) {
    Set<DeviceExtension> extensions = EnumSet.copyOf(ALL.extensions());
    if (port.findsNeighbors()) {
      extensions.add(NEIGHBOR_DISCOVERY);
    }
    return limits(Integer.numberOfTrailingZeros(port.pathMtu()) - MTU_LOG, extensions);
  }
}

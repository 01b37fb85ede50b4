package org.hghca.virtio.abi.roce;

import java.util.Objects;
import org.hghca.virtio.abi.Field;

/**
 * The numbers of a version of the RoCE extension that other allocations collide with. The virtio
 * specification has since given bit 55 to GUEST_USO6, control class 6 to notification coalescing,
 * and offset 24 of the configuration to tunnel types.
 *
 * @param name of the dialect
 * @param feature bit by which a device offers RoCE, 0 to 63
 * @param controlClass class of the control commands, 0 to 255
 * @param configOffset offset of the RoCE fields in the configuration of the network device, a
 *     multiple of 4
 */
public record Dialect(String name, int feature, int controlClass, int configOffset) {
  /** The numbers of the RFC. */
  public static final Dialect RFC_V2 = new Dialect("rfc-v2", 55, 6, 24);

  /** The largest number of CQs, and of queue pairs. */
  public static final int MOST_QUEUES = 16384;

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the number that is out of range
   */
  public Dialect {
    Objects.requireNonNull(name, "name");
    if (feature < 0 || feature > 63) {
      throw new IllegalArgumentException(name + ": a feature bit is 0 to 63, not " + feature);
    }
    if (controlClass < 0 || controlClass > 255) {
      throw new IllegalArgumentException(name + ": a class is 0 to 255, not " + controlClass);
    }
    if (configOffset < 0 || configOffset % 4 != 0) {
      throw new IllegalArgumentException(
          name + ": the offset is a multiple of 4, not " + configOffset);
    }
  }

  /** Configuration field: queue pairs of the device, 1 to {@link #MOST_QUEUES}. */
  public Field maxQps() {
    return Field.le32("max_rdma_qps", configOffset);
  }

  /**
   * Configuration field: completion queues of the device, 1 to {@link #MOST_QUEUES}. The RFC also
   * calls it {@code max_rdma_cps}.
   */
  public Field maxCqs() {
    return Field.le32("max_rdma_cqs", configOffset + 4);
  }

  /** Bytes of the configuration up to the end of the RoCE fields. */
  public int configSize() {
    return maxCqs().end();
  }
}

package org.hghca.virtio.abi.roce;

import org.hghca.virtio.abi.Bytes;
import org.hghca.virtio.abi.Field;

/** {@code virtio_rdma_global_route}. */
public final class GlobalRoute {
  /** Bytes of the structure. */
  public static final int SIZE = 24;

  /** GID of the destination, in the order of the wire. */
  public static final Bytes DGID = new Bytes("dgid", 0, 16);

  /** Flow label, 20 bits. */
  public static final Field FLOW_LABEL = Field.le32("flow_label", 16);

  /** Index of the GID of the source. */
  public static final Field SGID_INDEX = Field.u8("sgid_index", 20);

  /** Hop limit. */
  public static final Field HOP_LIMIT = Field.u8("hop_limit", 21);

  /** Traffic class. */
  public static final Field TRAFFIC_CLASS = Field.u8("traffic_class", 22);

  private GlobalRoute() {}
}

package org.hghca.virtio.abi.roce;

import org.hghca.virtio.abi.Bytes;

/** {@code virtio_rdma_ah_attr}. */
public final class AddressVector {
  /** Bytes of the structure. */
  public static final int SIZE = 40;

  /** Offset of the {@link GlobalRoute}. */
  public static final int ROUTE = 0;

  /** MAC address of the next hop, in the order of the wire. */
  public static final Bytes DMAC = new Bytes("dmac", 24, 6);

  private AddressVector() {}
}

package org.hghca.virtio.abi.roce;

/**
 * What a memory region allows besides local reads: {@code virtio_ib_access_flags}. The numbers are
 * those of libibverbs.
 */
public final class MrAccess {
  /** The device may write for requests of this side. */
  public static final int LOCAL_WRITE = 1;

  /** The other side may write. */
  public static final int REMOTE_WRITE = 2;

  /** The other side may read. */
  public static final int REMOTE_READ = 4;

  private MrAccess() {}
}

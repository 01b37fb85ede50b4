package org.hghca.abi;

/**
 * Bits of {@link Mpt#FLAGS} (interface document, table 3-2-19).
 *
 * <p>The access rights have libibverbs' numbers. The RTL checks LOCAL_WRITE, REMOTE_WRITE and
 * REMOTE_READ only.
 */
public final class MptFlags {
  /** Bit 0, IBV_ACCESS_LOCAL_WRITE: receives, READ results and CQEs may be written. */
  public static final int LOCAL_WRITE = 1;

  /** Bit 1, IBV_ACCESS_REMOTE_WRITE. */
  public static final int REMOTE_WRITE = 1 << 1;

  /** Bit 2, IBV_ACCESS_REMOTE_READ. */
  public static final int REMOTE_READ = 1 << 2;

  /** Bit 3, IBV_ACCESS_REMOTE_ATOMIC. */
  public static final int REMOTE_ATOMIC = 1 << 3;

  /** Bit 4, IBV_ACCESS_MW_BIND. */
  public static final int MW_BIND = 1 << 4;

  /** Bit 5, IBV_ACCESS_ZERO_BASED. */
  public static final int ZERO_BASED = 1 << 5;

  /** Bit 6, IBV_ACCESS_ON_DEMAND. */
  public static final int ON_DEMAND = 1 << 6;

  /** Bit 8, HGHCA_MPT_FLAG_REGION: a region, not a window. */
  public static final int REGION = 1 << 8;

  /**
   * Bit 9, HGHCA_MPT_FLAG_PHYSICAL: addresses are not translated; the RTL translates nevertheless.
   */
  public static final int PHYSICAL = 1 << 9;

  /** Bit 15, HGHCA_MPT_FLAG_BIND_ENABLE. */
  public static final int BIND_ENABLE = 1 << 15;

  /**
   * Bit 16: EXTENSION, the region holds rings. Its key is valid in queue contexts only; request
   * elements and peers cannot use it. With {@link DeviceExtension#RINGS_OF_ALL_DOMAINS} the
   * contexts may be of any protection domain.
   */
  public static final int QUEUE_ONLY = 1 << 16;

  /** Bit 17, HGHCA_MPT_FLAG_MIO. */
  public static final int MIO = 1 << 17;

  /** Bits 31:28, HGHCA_MPT_FLAG_SW_OWNS: the card does not own the entry. */
  public static final int SW_OWNS = 0xF << 28;

  private MptFlags() {}
}

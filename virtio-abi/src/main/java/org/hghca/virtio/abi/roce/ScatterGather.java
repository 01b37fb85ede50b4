package org.hghca.virtio.abi.roce;

import java.lang.foreign.MemorySegment;
import org.hghca.virtio.abi.Field;

/** One piece of a request: {@code virtio_rdma_sge}. */
public final class ScatterGather {
  /** Bytes of the structure. */
  public static final int SIZE = 16;

  /** Address in the memory region. */
  public static final Field ADDRESS = Field.le64("addr", 0);

  /** Length in bytes. */
  public static final Field LENGTH = Field.le32("length", 8);

  /** Key of the region. */
  public static final Field LKEY = Field.le32("lkey", 12);

  /** What follows the address, as one number. */
  private static final Field LENGTH_AND_LKEY = Field.le64("length, lkey", 8);

  private ScatterGather() {}

  /**
   * Writes a piece, by two stores.
   *
   * @param at where it begins in the segment
   * @param lengthAndKey {@link #LENGTH} in the low half, {@link #LKEY} in the high half
   */
  public static void put(MemorySegment segment, long at, long address, long lengthAndKey) {
    ADDRESS.setLong(segment, at, address);
    LENGTH_AND_LKEY.setLong(segment, at, lengthAndKey);
  }
}

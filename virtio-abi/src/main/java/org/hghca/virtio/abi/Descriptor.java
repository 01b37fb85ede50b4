package org.hghca.virtio.abi;

import java.lang.foreign.MemorySegment;

/** A descriptor of a split virtqueue: "The Virtqueue Descriptor Table". */
public final class Descriptor {
  /** Bytes of a descriptor. */
  public static final int SIZE = 16;

  /** Alignment of the table of descriptors in bytes. */
  public static final int ALIGNMENT = 16;

  /** Bus address of the buffer. */
  public static final Field ADDRESS = Field.le64("addr", 0);

  /** Length of the buffer in bytes. */
  public static final Field LENGTH = Field.le32("len", 8);

  /** {@link #FLAG_NEXT} and so on. */
  public static final Field FLAGS = Field.le16("flags", 12);

  /** Index of the next descriptor of the chain, with {@link #FLAG_NEXT}. */
  public static final Field NEXT = Field.le16("next", 14);

  /** The chain continues. */
  public static final int FLAG_NEXT = 1;

  /** The device writes the buffer; without it, it reads the buffer. */
  public static final int FLAG_WRITE = 2;

  /** The buffer is a table of descriptors, with {@link Feature#INDIRECT_DESC}. */
  public static final int FLAG_INDIRECT = 4;

  /** What follows the address, as one number. */
  private static final Field REST = Field.le64("len, flags, next", 8);

  private Descriptor() {}

  /**
   * Writes a descriptor that ends its chain, by two stores.
   *
   * @param at where it begins in the segment
   * @param length 0 or more
   * @param flags 16 bits
   */
  public static void put(MemorySegment segment, long at, long address, int length, int flags) {
    ADDRESS.setLong(segment, at, address);
    REST.setLong(segment, at, (long) flags << 32 | length);
  }
}

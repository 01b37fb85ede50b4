package org.hghca.virtio.abi.roce;

import org.hghca.virtio.abi.Field;

/**
 * {@code virtio_rdma_cmd_reg_user_mr}. The bus addresses of the pages follow, 8 bytes each.
 *
 * <p>The RFC names no page size and no offset in the first page. In this project a page has {@link
 * #PAGE_SIZE} bytes, and the region begins at the first page's address plus the low 12 bits of
 * {@code virt_addr}.
 */
public final class RegisterUserMr {
  /** Bytes up to the first page. */
  public static final int SIZE = 32;

  /** Bytes of a page. */
  public static final int PAGE_SIZE = 4096;

  /** Number of the PD. */
  public static final Field PDN = Field.le32("pdn", 0);

  /** Mask of {@link MrAccess}. */
  public static final Field ACCESS_FLAGS = Field.le32("access_flags", 4);

  /** Address of the first byte in work requests, chosen freely. */
  public static final Field VIRT_ADDR = Field.le64("virt_addr", 8);

  /** Length of the region in bytes. */
  public static final Field LENGTH = Field.le64("length", 16);

  /** Number of pages. */
  public static final Field NPAGES = Field.le32("npages", 24);

  /** Offset of the bus address of a page. */
  public static long page(long index) {
    return SIZE + 8 * index;
  }

  /** The number of pages that a region touches. */
  public static long pages(long virtualAddress, long length) {
    return Math.ceilDiv(Math.addExact(virtualAddress & PAGE_SIZE - 1, length), PAGE_SIZE);
  }

  private RegisterUserMr() {}
}

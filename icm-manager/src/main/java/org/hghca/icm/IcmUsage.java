package org.hghca.icm;

import org.hghca.abi.MapIcm;

/**
 * How much of a table is in use.
 *
 * @param entries number of entries that the table can have
 * @param pages number of host memory pages that back it now
 * @param ranges number of reserved ranges
 */
public record IcmUsage(IcmTable table, long entries, long pages, long ranges) {

  /** The host memory that backs the table now, in bytes. */
  public long bytes() {
    return pages * MapIcm.PAGE_SIZE;
  }
}

package org.hghca.icm;

import org.hghca.abi.MapIcm;

/**
 * How much of a table is in use.
 *
 * @param entries how many entries the table can have
 * @param pages how many pages of host memory back it now
 * @param ranges how many ranges of it are reserved
 */
public record IcmUsage(IcmTable table, long entries, long pages, long ranges) {

  /** The host memory that backs the table now, in bytes. */
  public long bytes() {
    return pages * MapIcm.PAGE_SIZE;
  }
}

package org.hghca.model.rtl;

import java.lang.foreign.MemorySegment;
import org.hghca.model.card.HostMemory;

/**
 * The host memory behind one of the translation unit's tables. If a page is not mapped, the card
 * accesses bus address 0 plus the offset in the page, for reads and for writes.
 */
final class TableBacking {
  private final HostMemory host;
  private final IcmTableMap table;
  private final String name;
  private final Hazards hazards;

  TableBacking(HostMemory host, IcmTableMap table, String name, Hazards hazards) {
    this.host = host;
    this.table = table;
    this.name = name;
    this.hazards = hazards;
  }

  /**
   * Reads a line.
   *
   * @param offset of it in the table
   * @param target as long as the line; zeros where the host refuses
   */
  void read(long offset, MemorySegment target) {
    if (!host.read(address(offset), target, 0, target.byteSize())) {
      target.fill((byte) 0);
    }
  }

  void write(long offset, MemorySegment source) {
    host.write(address(offset), source, 0, source.byteSize());
  }

  private long address(long offset) {
    long address = table.address(offset);
    if (address != IcmTableMap.NONE) {
      return address;
    }
    long instead = offset & IcmTableMap.PAGE_MASK;
    hazards.strike(
        "12.9", "%s+0x%x is not mapped: DMA at bus address 0x%x".formatted(name, offset, instead));
    return instead;
  }
}

package org.hghca.icm;

import java.util.EnumMap;
import java.util.Map;
import org.hghca.abi.DeviceLimits;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.InitHca;
import org.hghca.abi.MapIcm;
import org.hghca.abi.Mpt;
import org.hghca.abi.QueuePairContext;
import org.hghca.abi.WriteMtt;

/**
 * The position of each table in the card's ICM address space: each table is as large as DEV_LIM and
 * the profile allow, at a multiple of its size, never at 0. All bases differ, because a card may
 * distinguish the tables by them.
 */
final class IcmLayout {
  /** No source bounds the MTT. This many entries translate 256 GiB. */
  private static final int MOST_LOG_MTTS = 26;

  /**
   * One table.
   *
   * @param log log2 of the number of its entries
   * @param stride bytes from one entry to the next
   * @param otherStride the stride according to DEV_LIM, where that differs from the card's
   *     behaviour
   */
  record Region(IcmTable table, long base, int log, int stride, int otherStride) {
    long entries() {
      return 1L << log;
    }

    /** Its length, whichever stride is right; whole pages. */
    long bytes() {
      long bytes = entries() * Math.max(stride, otherStride);
      return (bytes + MapIcm.PAGE_SIZE - 1) / MapIcm.PAGE_SIZE * MapIcm.PAGE_SIZE;
    }
  }

  private final Map<IcmTable, Region> regions = new EnumMap<>(IcmTable.class);
  private long end = MapIcm.PAGE_SIZE;

  IcmLayout(HardwareProfile profile, DeviceLimits limits) {
    add(
        IcmTable.QPC,
        limits.maxQpsLog(),
        QueuePairContext.ENTRY_SIZE,
        limits.qpcEntrySize(),
        profile.qpcCapacityPages());
    add(
        IcmTable.CQC,
        limits.maxCqsLog(),
        profile.cqcEntrySize(),
        limits.cqcEntrySize(),
        profile.cqcCapacityPages());
    add(
        IcmTable.EQC,
        limits.maxEqsLog(),
        profile.eqcEntrySize(),
        limits.eqcEntrySize(),
        profile.eqcCapacityPages());
    add(
        IcmTable.MPT,
        Math.max(limits.maxMptsLog(), profile.keyIndexBits()),
        Mpt.ENTRY_SIZE,
        limits.mptEntrySize(),
        profile.mptCapacityPages());
    add(
        IcmTable.MTT,
        MOST_LOG_MTTS,
        WriteMtt.ENTRY_SIZE,
        limits.mttEntrySize(),
        profile.mttCapacityPages());
    if (Long.compareUnsigned(end, limits.maxIcmSize()) > 0) {
      throw new IllegalArgumentException(
          "the tables of DEV_LIM take 0x%x bytes of ICM, of which it allows 0x%x"
              .formatted(end, limits.maxIcmSize()));
    }
  }

  private void add(IcmTable table, int mostLog, int stride, int otherStride, int capacityPages) {
    int entryBytes = Math.max(stride, otherStride);
    long fitting = (long) capacityPages * MapIcm.PAGE_SIZE / entryBytes;
    int log = Math.min(mostLog, 63 - Long.numberOfLeadingZeros(fitting));
    Region region = new Region(table, 0, log, stride, otherStride);
    long alignment = Math.max(MapIcm.PAGE_SIZE, Long.highestOneBit(2 * region.bytes() - 1));
    long base = (end + alignment - 1) / alignment * alignment;
    regions.put(table, new Region(table, base, log, stride, otherStride));
    end = base + region.bytes();
  }

  Region region(IcmTable table) {
    return regions.get(table);
  }

  /** The parameters of INIT_HCA. */
  InitHca initHca() {
    return new InitHca(
        region(IcmTable.QPC).base(),
        region(IcmTable.QPC).log(),
        region(IcmTable.CQC).base(),
        region(IcmTable.CQC).log(),
        region(IcmTable.EQC).base(),
        region(IcmTable.EQC).log(),
        region(IcmTable.MPT).base(),
        region(IcmTable.MPT).log(),
        region(IcmTable.MTT).base());
  }
}

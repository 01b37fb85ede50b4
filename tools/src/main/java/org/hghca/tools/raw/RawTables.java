package org.hghca.tools.raw;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntToLongFunction;
import java.util.function.IntUnaryOperator;
import org.hghca.abi.DeviceLimits;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.IcmChunk;
import org.hghca.abi.InitHca;
import org.hghca.abi.MapIcm;
import org.hghca.abi.Mpt;
import org.hghca.abi.MptFlags;
import org.hghca.abi.WriteMtt;
import org.hghca.icm.IcmManager;
import org.hghca.icm.IcmTable;
import org.hghca.mailbox.CommandInterface;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.PciFunction;

/**
 * The card's tables, mapped page by page by the rule of the profile, and memory regions in them.
 * All memory is kept until the card is shut down.
 */
public final class RawTables implements AutoCloseable {
  private static final int MTT_LINE = 4;
  private static final int KEY_VARIANT = 0x5a;
  private static final int KEY_VARIANT_SHIFT = 24;
  private static final int QPC_PAGES = 3;
  private static final int MPT_PAGES = 2;

  private final PciFunction function;
  private final CommandInterface commands;
  private final HardwareProfile profile;
  private final InitHca layout;
  private final Map<IcmTable, DmaMapping> pages = new EnumMap<>(IcmTable.class);
  private final List<DmaMapping> memory = new ArrayList<>();
  private int nextMtt;
  private int nextMpt;

  /**
   * Lays the tables out; nothing is mapped yet.
   *
   * @param profile the rules of MAP_ICM and WRITE_MTT
   * @param limits of the card
   */
  public RawTables(
      PciFunction function,
      CommandInterface commands,
      HardwareProfile profile,
      DeviceLimits limits) {
    this.function = function;
    this.commands = commands;
    this.profile = profile;
    this.layout = IcmManager.create(function, commands, profile, limits).initHca();
    this.nextMtt = Math.max(MTT_LINE, limits.reservedMtts());
    this.nextMpt = Math.max(1, limits.reservedLkeys());
  }

  /** How many pages of a table a session uses. */
  public static int usedPages(IcmTable table) {
    return switch (table) {
      case QPC -> QPC_PAGES;
      case MPT -> MPT_PAGES;
      case CQC, EQC, MTT -> 1;
    };
  }

  /** Where the tables lie. */
  public InitHca layout() {
    return layout;
  }

  /** Where a table lies in ICM. */
  public long base(IcmTable table) {
    return IcmPages.base(layout, table);
  }

  /**
   * Maps the first pages of a table.
   *
   * @return how many commands it took
   */
  public int map(IcmTable table, int count) {
    DmaMapping mapping = function.allocate((long) count * MapIcm.PAGE_SIZE);
    memory.add(mapping);
    pages.put(table, mapping);
    List<List<IcmChunk>> given = chunks(base(table), mapping, count);
    given.forEach(chunks -> commands.mapIcm(table.opModifier(), chunks));
    return given.size();
  }

  /** The entries of each command: many, one long one, or one page, as the profile allows. */
  private List<List<IcmChunk>> chunks(long base, DmaMapping mapping, int count) {
    int longest = profile.mapIcmMaxEntries() > 1 ? 1 : profile.mapIcmMaxPagesPerEntry();
    List<IcmChunk> chunks = new ArrayList<>();
    for (int page = 0; page < count; ) {
      int run = 1;
      while (page + run < count && run < longest && isContiguous(mapping, page + run)) {
        run++;
      }
      long offset = (long) page * MapIcm.PAGE_SIZE;
      chunks.add(new IcmChunk(base + offset, mapping.iova(offset), run));
      page += run;
    }
    List<List<IcmChunk>> given = new ArrayList<>();
    int most = profile.mapIcmMaxEntries();
    for (int from = 0; from < chunks.size(); from += most) {
      given.add(chunks.subList(from, Math.min(chunks.size(), from + most)));
    }
    return given;
  }

  private static boolean isContiguous(DmaMapping mapping, int page) {
    long offset = (long) page * MapIcm.PAGE_SIZE;
    return mapping.iova(offset) == mapping.iova(offset - MapIcm.PAGE_SIZE) + MapIcm.PAGE_SIZE;
  }

  /** The memory behind the mapped pages of a table. */
  public DmaMapping pages(IcmTable table) {
    return pages.get(table);
  }

  /** Allocates memory of whole pages that the card can reach. */
  public DmaMapping allocate(long bytes) {
    DmaMapping mapping = function.allocate(bytes);
    memory.add(mapping);
    return mapping;
  }

  /**
   * Registers memory.
   *
   * @param access bits of {@link MptFlags}
   * @param start the address of the first byte; 0 for a queue
   */
  public RawRegion register(DmaMapping mapping, int pd, int access, long start) {
    return register(mapping, pd, access, start, IntUnaryOperator.identity());
  }

  /**
   * Registers memory whose pages do not follow one another.
   *
   * @param order which page of the memory a page of the region is, by its number
   */
  public RawRegion register(
      DmaMapping mapping, int pd, int access, long start, IntUnaryOperator order) {
    int first = nextMtt(pages(mapping));
    writePages(mapping, first, order);
    int index = nextMpt++;
    int key = KEY_VARIANT << KEY_VARIANT_SHIFT | index;
    return enter(mapping, index, MptFlags.MIO | MptFlags.REGION | access, key, pd, start, first);
  }

  /**
   * Takes a region back from the card, overwrites its MTT entries and gives it to the card again,
   * with its MPT entry and another key.
   *
   * @param order which page of the memory a page of the region is now, by its number
   */
  public RawRegion overwrite(RawRegion region, IntUnaryOperator order) {
    return again(region, region.entry().mttSegment(), order);
  }

  /** The same with new MTT entries: the old ones stay as they are. */
  public RawRegion move(RawRegion region, IntUnaryOperator order) {
    return again(region, nextMtt(pages(region.mapping())), order);
  }

  private RawRegion again(RawRegion region, long first, IntUnaryOperator order) {
    commands.hw2swMpt(region.index());
    writePages(region.mapping(), Math.toIntExact(first), order);
    Mpt old = region.entry();
    int key = old.key() + (1 << KEY_VARIANT_SHIFT);
    return enter(region.mapping(), region.index(), old.flags(), key, old.pd(), old.start(), first);
  }

  private RawRegion enter(
      DmaMapping mapping, int index, int flags, int key, int pd, long start, long first) {
    int pageSizeLog = 0; // minus 12
    long length = mapping.segment().byteSize();
    Mpt entry = new Mpt(flags, pageSizeLog, key, pd, start, length, 0, 0, 0, first, 0);
    commands.sw2hwMpt(index, entry);
    return new RawRegion(mapping, index, entry);
  }

  private void writePages(DmaMapping mapping, int first, IntUnaryOperator order) {
    writeMtt(
        first,
        pages(mapping),
        page -> mapping.iova((long) order.applyAsInt(page) * MapIcm.PAGE_SIZE));
  }

  private static int pages(DmaMapping mapping) {
    return (int) (mapping.segment().byteSize() / MapIcm.PAGE_SIZE);
  }

  /**
   * Writes entries into the translation table, in lines of their own.
   *
   * @param pages of the memory, which the entries name in turn
   * @return the index of the first entry
   */
  public int writeMtt(DmaMapping mapping, int pages, int count) {
    int first = nextMtt(count);
    writeMtt(first, count, entry -> mapping.iova((long) entry % pages * MapIcm.PAGE_SIZE));
    return first;
  }

  /** Takes free entries of the translation table, in lines of their own. */
  private int nextMtt(int count) {
    int first = nextMtt;
    nextMtt += (count + MTT_LINE - 1) / MTT_LINE * MTT_LINE;
    // Beyond the mapped page the card would read and write bus address 0.
    long mapped = pages(IcmTable.MTT).segment().byteSize() / WriteMtt.ENTRY_SIZE;
    if (nextMtt > mapped) {
      throw new IllegalStateException("more than %d pages to translate".formatted(mapped));
    }
    return first;
  }

  private void writeMtt(int first, int count, IntToLongFunction page) {
    int most = WriteMtt.MAX_ENTRIES;
    for (int done = 0; done < count; done += most) {
      int from = done;
      commands.writeMtt(
          first + from,
          Math.min(most, count - from),
          entry -> page.applyAsLong(Math.toIntExact(from + entry)));
    }
  }

  @Override
  public void close() {
    memory.forEach(DmaMapping::close);
    memory.clear();
  }
}

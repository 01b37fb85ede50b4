package org.hghca.icm;

import java.util.ArrayList;
import java.util.List;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.IcmChunk;
import org.hghca.abi.MapIcm;
import org.hghca.mailbox.CommandInterface;
import org.hghca.mailbox.DeviceFatalException;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;

/**
 * Allocates the memory of chunks and maps it on the card. A chunk that may be unmapped later is
 * short enough for one command to map it even if none of its pages are contiguous for the card, so
 * that it is mapped completely or not at all. A chunk that stays mapped permanently is longer, and
 * is mapped by as many commands as its pages need. Thread-safe.
 */
final class ChunkMapper implements AutoCloseable {
  private static final int LONGEST_CHUNK_PAGES = 16;
  private static final int LASTING_CHUNK_PAGES = 64;

  private final PciFunction function;
  private final CommandInterface commands;
  private final HardwareProfile profile;
  private final List<DmaMapping> stranded = new ArrayList<>();
  private volatile boolean active;

  ChunkMapper(PciFunction function, CommandInterface commands, HardwareProfile profile) {
    this.function = function;
    this.commands = commands;
    this.profile = profile;
  }

  /** The function, for the log. */
  Locator device() {
    return function.locator();
  }

  void activate() {
    active = true;
  }

  int chunkPages() {
    return reclaims()
        ? Math.min(LONGEST_CHUNK_PAGES, profile.mapIcmMaxEntries())
        : LASTING_CHUNK_PAGES;
  }

  /** Whether a chunk may be unmapped while the card runs. */
  boolean reclaims() {
    return profile.icmReclaim();
  }

  /** Backs one chunk with fresh memory. */
  DmaMapping map(IcmTable table, long virtualAddress, int pages) {
    if (!active) {
      throw new IllegalStateException(
          "a MAP_ICM before INIT_HCA would be lost: issue INIT_HCA, then activate");
    }
    DmaMapping memory = function.allocate((long) pages * MapIcm.PAGE_SIZE);
    List<IcmChunk> runs = runs(virtualAddress, memory, pages);
    int most = profile.mapIcmMaxEntries();
    int given = 0;
    try {
      while (given < runs.size()) {
        int end = Math.min(runs.size(), given + most);
        commands.mapIcm(table.opModifier(), runs.subList(given, end));
        given = end;
      }
      return memory;
    } catch (DeviceFatalException e) {
      // The card may have taken the pages before it stopped responding.
      strand(memory);
      throw e;
    } catch (RuntimeException e) {
      if (given == 0) {
        memory.close();
      } else {
        strand(memory); // the card owns a part of it
      }
      throw e;
    }
  }

  /** One entry per run of pages that are contiguous for the card, too. */
  private List<IcmChunk> runs(long virtualAddress, DmaMapping memory, int pages) {
    List<IcmChunk> runs = new ArrayList<>();
    int start = 0;
    for (int page = 1; page <= pages; page++) {
      if (page == pages
          || page - start == profile.mapIcmMaxPagesPerEntry()
          || iova(memory, page) != iova(memory, page - 1) + MapIcm.PAGE_SIZE) {
        long offset = (long) start * MapIcm.PAGE_SIZE;
        runs.add(new IcmChunk(virtualAddress + offset, iova(memory, start), page - start));
        start = page;
      }
    }
    return runs;
  }

  private static long iova(DmaMapping memory, int page) {
    return memory.iova((long) page * MapIcm.PAGE_SIZE);
  }

  void unmap(IcmTable table, long virtualAddress, int pages) {
    commands.unmapIcm(table.opModifier(), virtualAddress, pages);
  }

  private void strand(DmaMapping memory) {
    synchronized (stranded) {
      stranded.add(memory);
    }
  }

  /**
   * Frees the memory that the card may have accessed. The card must no longer be able to access it.
   */
  @Override
  public void close() {
    synchronized (stranded) {
      stranded.forEach(DmaMapping::close);
      stranded.clear();
    }
  }
}

package org.hghca.model.hca;

import org.hghca.abi.HardwareProfile;
import org.hghca.abi.InitHca;
import org.hghca.abi.Mpt;
import org.hghca.abi.QueuePairContext;
import org.hghca.abi.WriteMtt;
import org.hghca.model.card.HostMemory;

/**
 * Interconnect context memory: the location of the card's tables in host memory. Two maps, one for
 * contexts and one for translation tables, lead from pages of the HCA's virtual addresses to pages
 * of I/O addresses; bases and sizes of the tables come from INIT_HCA.
 */
final class Icm {
  /** The result of a look-up if nothing is mapped, or the index is beyond the table. */
  static final long NONE = PageMap.NONE;

  static final int PAGE_SHIFT = 12;
  static final int PAGE_SIZE = 1 << PAGE_SHIFT;

  /**
   * The maximum number of pages in each map, 16 GB: a garbage command must not exhaust this
   * process's memory.
   */
  private static final int MAX_PAGES = 1 << 22;

  /** INIT_HCA does not give the length of the MTT: it is limited by addresses and maps. */
  private static final int LOG_PAGES = 40;

  /** A table of fixed-size entries. */
  private record Table(long base, int log, int stride) {
    private static final Table ABSENT = new Table(0, -1, 0);

    /** The HCA-virtual address of an entry; whether the table has it is {@link #holds}. */
    long address(long index) {
      return base + index * stride;
    }

    boolean holds(long index) {
      return log >= 0 && index >= 0 && index >>> log == 0;
    }
  }

  private final HostMemory host;
  private final PageMap contexts = new PageMap();
  private final PageMap translation = new PageMap();
  private Table queuePairs = Table.ABSENT;
  private Table completionQueues = Table.ABSENT;
  private Table eventQueues = Table.ABSENT;
  private Table memoryKeys = Table.ABSENT;
  private Table pages = Table.ABSENT;
  private boolean initialized;

  Icm(HostMemory host) {
    this.host = host;
  }

  /** Takes the tables from an INIT_HCA. */
  void initialize(InitHca tables, HardwareProfile profile) {
    queuePairs = new Table(tables.qpcBase(), tables.logQps(), QueuePairContext.ENTRY_SIZE);
    completionQueues = new Table(tables.cqcBase(), tables.logCqs(), profile.cqcEntrySize());
    eventQueues = new Table(tables.eqcBase(), tables.logEqs(), profile.eqcEntrySize());
    memoryKeys = new Table(tables.mptBase(), tables.logMpts(), Mpt.ENTRY_SIZE);
    pages = new Table(tables.mttBase(), LOG_PAGES, WriteMtt.ENTRY_SIZE);
    initialized = true;
    host.change();
  }

  boolean isInitialized() {
    return initialized;
  }

  /** Clears tables and maps. */
  void close() {
    contexts.clear();
    translation.clear();
    queuePairs = Table.ABSENT;
    completionQueues = Table.ABSENT;
    eventQueues = Table.ABSENT;
    memoryKeys = Table.ABSENT;
    pages = Table.ABSENT;
    initialized = false;
    host.change();
  }

  /**
   * Maps consecutive pages.
   *
   * @return false when the map is full
   */
  boolean map(boolean forTranslation, long virt, long iova, int count) {
    PageMap map = forTranslation ? translation : contexts;
    if (map.size() + count > MAX_PAGES) {
      return false;
    }
    host.change();
    for (int i = 0; i < count; i++) {
      map.put((virt >>> PAGE_SHIFT) + i, iova + (long) i * PAGE_SIZE);
    }
    return true;
  }

  /** Unmaps consecutive pages; unmapped ones are ignored. */
  void unmap(boolean forTranslation, long virt, int count) {
    host.change();
    PageMap map = forTranslation ? translation : contexts;
    for (int i = 0; i < count && map.size() > 0; i++) {
      map.remove((virt >>> PAGE_SHIFT) + i);
    }
  }

  /** Number of mapped pages, for contexts or for translation tables. */
  int mappedPages(boolean forTranslation) {
    return (forTranslation ? translation : contexts).size();
  }

  long queuePair(int qpn) {
    return find(contexts, queuePairs, qpn);
  }

  long completionQueue(int cqn) {
    return find(contexts, completionQueues, cqn);
  }

  long eventQueue(int eqn) {
    return find(contexts, eventQueues, eqn);
  }

  /** The entry of a memory key: its index is the key's low bits. */
  long memoryKey(int key) {
    return memoryKeys.log() < 0
        ? NONE
        : find(translation, memoryKeys, key & (1L << memoryKeys.log()) - 1);
  }

  /** The index of a memory key, or -1 before INIT_HCA. */
  int memoryKeyIndex(int key) {
    return memoryKeys.log() < 0 ? -1 : (int) (key & (1L << memoryKeys.log()) - 1);
  }

  long page(long index) {
    return find(translation, pages, index);
  }

  private static long find(PageMap map, Table table, long index) {
    if (!table.holds(index)) {
      return NONE;
    }
    long virt = table.address(index);
    long page = map.get(virt >>> PAGE_SHIFT);
    return page == NONE ? NONE : page | virt & PAGE_SIZE - 1;
  }
}

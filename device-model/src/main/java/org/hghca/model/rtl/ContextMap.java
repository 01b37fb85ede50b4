package org.hghca.model.rtl;

import java.util.List;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.IcmChunk;
import org.hghca.abi.InitHca;
import org.hghca.abi.QueuePairContext;

/**
 * The context manager's maps of the tables of queue pairs, completion queues and event queues. The
 * first RTL finds the table of an address by the bases, the second by bases and lengths; there a
 * mapped page stays mapped.
 */
final class ContextMap {
  private final HardwareProfile profile;
  private final boolean byLength;
  private final IcmTableMap queuePairs;
  private final IcmTableMap completionQueues;
  private final IcmTableMap eventQueues;

  ContextMap(HardwareProfile profile) {
    this.profile = profile;
    this.byLength = profile == HardwareProfile.R2;
    this.queuePairs = new IcmTableMap(profile.qpcCapacityPages());
    this.completionQueues = new IcmTableMap(profile.cqcCapacityPages());
    this.eventQueues = new IcmTableMap(profile.eqcCapacityPages());
  }

  void initialize(InitHca tables) {
    queuePairs.base(tables.qpcBase());
    completionQueues.base(tables.cqcBase());
    eventQueues.base(tables.eqcBase());
    queuePairs.size((long) QueuePairContext.ENTRY_SIZE << tables.logQps());
    completionQueues.size((long) profile.cqcEntrySize() << tables.logCqs());
    eventQueues.size((long) profile.eqcEntrySize() << tables.logEqs());
  }

  /**
   * Maps pages. Each entry selects its table separately, but an entry for event queues at an odd
   * position takes the page of the previous entry.
   */
  void map(List<IcmChunk> chunks, Hazards hazards) {
    for (int i = 0; i < chunks.size(); i++) {
      IcmChunk chunk = chunks.get(i);
      IcmTableMap table = tableOf(chunk.virtualAddress());
      if (table == null) {
        hazards.strike("3.3", "MAP_ICM of 0x%x is lost".formatted(chunk.virtualAddress()));
        continue;
      }
      if (byLength) {
        table.map(chunk.virtualAddress(), chunk.pageAddress(), 1);
        continue;
      }
      boolean neighbors = table == eventQueues && i % 2 == 1;
      if (neighbors || chunk.pages() > table.capacity()) {
        hazards.strike("3.3", "MAP_ICM of 0x%x maps wrongly".formatted(chunk.virtualAddress()));
      }
      long bus = chunks.get(neighbors ? i - 1 : i).pageAddress();
      table.map(chunk.virtualAddress(), bus, chunk.pages());
    }
  }

  void unmap(long virtual, int count) {
    IcmTableMap table = tableOf(virtual);
    if (table != null && !byLength) {
      table.unmap(virtual, count);
    }
  }

  /**
   * The table that holds an address, or that with the largest base up to it, the last of equals.
   */
  private IcmTableMap tableOf(long virtual) {
    IcmTableMap found = null;
    for (IcmTableMap table : List.of(queuePairs, completionQueues, eventQueues)) {
      if (byLength) {
        found = table.holds(virtual) ? table : found;
      } else if (Long.compareUnsigned(table.base(), virtual) <= 0
          && (found == null || Long.compareUnsigned(table.base(), found.base()) >= 0)) {
        found = table;
      }
    }
    return found;
  }

  long queuePair(int qpn) {
    return queuePairs.address((long) qpn * QueuePairContext.ENTRY_SIZE);
  }

  long completionQueue(int cqn) {
    return completionQueues.address((long) cqn * profile.cqcEntrySize());
  }

  long eventQueue(int eqn) {
    return eventQueues.address((long) eqn * profile.eqcEntrySize());
  }

  int pages() {
    return queuePairs.mappedPages() + completionQueues.mappedPages() + eventQueues.mappedPages();
  }

  /** CLOSE_HCA. */
  void close() {
    if (!byLength) {
      reset();
    }
  }

  /** As after power-on. */
  void reset() {
    queuePairs.close();
    completionQueues.close();
    eventQueues.close();
  }
}

package org.hghca.model.rtl;

import java.util.List;
import org.hghca.abi.IcmChunk;
import org.hghca.abi.InitHca;

/** The context manager's maps of the tables of queue pairs, completion queues and event queues. */
final class ContextMap {
  private static final int QPC_STRIDE = 256;
  private static final int CQC_STRIDE = 64;
  private static final int EQC_STRIDE = 64;

  private final IcmTable queuePairs = new IcmTable(1024);
  private final IcmTable completionQueues = new IcmTable(256);
  private final IcmTable eventQueues = new IcmTable(1);

  void initialize(InitHca tables) {
    queuePairs.base(tables.qpcBase());
    completionQueues.base(tables.cqcBase());
    eventQueues.base(tables.eqcBase());
  }

  /**
   * Maps pages. Each entry finds its table by itself, but one of the event queues' at an odd place
   * takes the page of the entry before it.
   */
  void map(List<IcmChunk> chunks, Hazards hazards) {
    for (int i = 0; i < chunks.size(); i++) {
      IcmChunk chunk = chunks.get(i);
      IcmTable table = tableOf(chunk.virtualAddress());
      if (table == null) {
        continue;
      }
      boolean neighbours = table == eventQueues && i % 2 == 1;
      if (neighbours || chunk.pages() > table.capacity()) {
        hazards.strike("3.3", "MAP_ICM of 0x%x maps wrongly".formatted(chunk.virtualAddress()));
      }
      long bus = chunks.get(neighbours ? i - 1 : i).pageAddress();
      table.map(chunk.virtualAddress(), bus, chunk.pages());
    }
  }

  void unmap(long virtual, int count) {
    IcmTable table = tableOf(virtual);
    if (table != null) {
      table.unmap(virtual, count);
    }
  }

  /** The table with the largest base up to an address; of equal ones the last. */
  private IcmTable tableOf(long virtual) {
    IcmTable found = null;
    for (IcmTable table : List.of(queuePairs, completionQueues, eventQueues)) {
      if (Long.compareUnsigned(table.base(), virtual) <= 0
          && (found == null || Long.compareUnsigned(table.base(), found.base()) >= 0)) {
        found = table;
      }
    }
    return found;
  }

  long queuePair(int qpn) {
    return queuePairs.address((long) qpn * QPC_STRIDE);
  }

  long completionQueue(int cqn) {
    return completionQueues.address((long) cqn * CQC_STRIDE);
  }

  long eventQueue(int eqn) {
    return eventQueues.address((long) eqn * EQC_STRIDE);
  }

  int pages() {
    return queuePairs.mappedPages() + completionQueues.mappedPages() + eventQueues.mappedPages();
  }

  void close() {
    queuePairs.close();
    completionQueues.close();
    eventQueues.close();
  }
}

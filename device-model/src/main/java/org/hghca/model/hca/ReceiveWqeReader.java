package org.hghca.model.hca;

import static org.hghca.model.hca.QueueBytes.MEMORY;

import org.hghca.abi.DataUnit;
import org.hghca.abi.NextUnit;
import org.hghca.model.transport.MemoryStatus;
import org.hghca.model.transport.ReceiveWork;
import org.hghca.model.transport.WorkStatus;

/** Reads receive WQEs slot by slot: next unit, data units, terminator. */
final class ReceiveWqeReader {
  static final int MIN_SLOT_LOG = 5;
  static final int MAX_SLOT_LOG = 12;

  private final TranslationTables memory;
  private final QueueBytes slot = new QueueBytes(1 << MAX_SLOT_LOG);

  /** Whether all of the slot is read in place. */
  private boolean inPlace;

  ReceiveWqeReader(TranslationTables memory) {
    this.memory = memory;
  }

  /**
   * Reads the first unit of a slot, which is written last, maybe in place as {@link QueueBytes}
   * says; returns whether it can be read.
   */
  boolean loadFirst(QueueMemory queue, int key, int pd, long place, int slotLog) {
    inPlace = memory.reach(queue, key, pd, place, 1 << slotLog, slot);
    return inPlace
        || memory.openQueue(key, pd, place, NextUnit.SIZE) == MemoryStatus.OK
            && memory.readOpened(place, slot.copy(), 0, NextUnit.SIZE) == MemoryStatus.OK;
  }

  /** Whether the slot is read in place, and {@link #slot} is where it is. */
  boolean isInPlace() {
    return inPlace;
  }

  QueueBytes slot() {
    return slot;
  }

  /**
   * Reads the rest of the slot whose first unit was read last, after a fence of the caller: it is
   * to be as new as the first unit. Returns whether it can be read.
   */
  boolean loadRest(long place, int slotLog) {
    int size = (1 << slotLog) - NextUnit.SIZE;
    return inPlace
        || memory.readOpened(place + NextUnit.SIZE, slot.copy(), NextUnit.SIZE, size)
            == MemoryStatus.OK;
  }

  /** Reads a whole slot, which is known to be posted; returns whether it can be read. */
  boolean load(int key, int pd, long place, int slotLog) {
    return memory.readQueue(key, pd, place, slot.copy(), 0, 1 << slotLog) == MemoryStatus.OK;
  }

  /** The position of the WQE after the one that was read, in units of its ring. */
  int next() {
    return NextUnit.nextHeadUnits16(MEMORY, slot.at());
  }

  /**
   * Decodes a slot.
   *
   * @param slot where it is, in {@link QueueBytes#MEMORY}
   */
  static void parse(long slot, int slotLog, ReceiveWork into) {
    long end = slot + (1 << slotLog);
    // Compared so that the compiler does not unroll it: lists are short.
    for (long at = slot + NextUnit.SIZE; at != end; at += DataUnit.SIZE) {
      long lengthAndKey = DataUnit.lengthAndKey(MEMORY, at);
      long address = DataUnit.address(MEMORY, at);
      if (DataUnit.isTerminator(lengthAndKey, address)) {
        return;
      }
      if (DataUnit.isInline((int) lengthAndKey)
          || !into.pieces.add(
              address, DataUnit.lkey(lengthAndKey), DataUnit.byteCount(lengthAndKey))) {
        into.status = WorkStatus.LOCAL_OPERATION;
        return;
      }
    }
  }
}

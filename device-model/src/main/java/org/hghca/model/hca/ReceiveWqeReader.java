package org.hghca.model.hca;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
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
  private final MemorySegment slot = Arena.ofAuto().allocate(1 << MAX_SLOT_LOG, 64);

  ReceiveWqeReader(TranslationTables memory) {
    this.memory = memory;
  }

  /** Reads the first unit of a slot, which is written last; returns whether it can be read. */
  boolean loadFirst(int key, int pd, long place) {
    return memory.readQueue(key, pd, place, slot, 0, NextUnit.SIZE) == MemoryStatus.OK;
  }

  /** Whether the slot whose first unit was read holds a WQE. */
  boolean isPosted() {
    return NextUnit.isPosted(slot, 0);
  }

  /** Reads the rest of the slot whose first unit was read last; returns whether it can be read. */
  boolean loadRest(long place, int slotLog) {
    int size = (1 << slotLog) - NextUnit.SIZE;
    return memory.readOpened(place + NextUnit.SIZE, slot, NextUnit.SIZE, size) == MemoryStatus.OK;
  }

  /** Reads a whole slot, which is known to be posted; returns whether it can be read. */
  boolean load(int key, int pd, long place, int slotLog) {
    return memory.readQueue(key, pd, place, slot, 0, 1 << slotLog) == MemoryStatus.OK;
  }

  /** The position of the WQE after the one that was read, in units of its ring. */
  int next() {
    return NextUnit.nextHeadUnits16(slot, 0);
  }

  /** Decodes the slot that was read. */
  void parse(int slotLog, ReceiveWork into) {
    for (int at = NextUnit.SIZE; at < 1 << slotLog; at += DataUnit.SIZE) {
      if (DataUnit.isTerminator(slot, at)) {
        return;
      }
      if (DataUnit.isInline(DataUnit.firstDword(slot, at))
          || !into.pieces.add(
              DataUnit.address(slot, at), DataUnit.lkey(slot, at), DataUnit.byteCount(slot, at))) {
        into.status = WorkStatus.LOCAL_OPERATION;
        return;
      }
    }
  }
}

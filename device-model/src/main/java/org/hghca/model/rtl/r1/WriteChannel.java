package org.hghca.model.rtl.r1;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import org.hghca.abi.Cqe;
import org.hghca.abi.MptFlags;
import org.hghca.model.rtl.Hazards;
import org.hghca.model.rtl.IcmTableMap;
import org.hghca.model.rtl.OnChipCq;
import org.hghca.model.rtl.SgeList;
import org.hghca.model.rtl.Translation;

/**
 * The channel through which received data and CQEs go to host memory, in one order for the whole
 * card. It moves 32 bytes at a time, and miscounts when a write crosses a page.
 */
final class WriteChannel {
  /** What became of data. */
  enum Result {
    DONE,
    /** A data unit refuses them. */
    DENIED,
    /** The data units end before the data do. */
    TOO_LONG
  }

  private static final int BEAT = 32;
  private static final int PAGE_MASK = IcmTableMap.PAGE_MASK;

  /** A write that stays pending until the next one. */
  private record Waiting(int key, long address, byte[] bytes, OnChipCq queue) {}

  private final Translation translation;
  private final Hazards hazards;
  private final Deque<Waiting> waiting = new ArrayDeque<>();
  private final MemorySegment late = Arena.ofAuto().allocate(Cqe.SIZE);
  private final MemorySegment swap = Arena.ofAuto().allocate(Cqe.SIZE);
  private boolean stopped;
  private boolean stopsBehindEntry;
  private boolean entriesAreLate;
  private long entries;

  WriteChannel(Translation translation, Hazards hazards) {
    this.translation = translation;
    this.hazards = hazards;
  }

  /** Data and CQEs are lost from now on. */
  void stop(String line, String why) {
    hazards.strike(line, why + ": the write channel stops");
    stopped = true;
  }

  /** Data are lost from now on, and all CQEs after the next one. */
  void stopBehindEntry(String line, String why) {
    hazards.strike(line, why + ": the write channel stops after the next CQE");
    stopsBehindEntry = true;
  }

  /** Writes data of one packet to one data unit, or to remote memory; they may go there. */
  void write(int key, long address, MemorySegment source, long at, int length) {
    if (stopped || stopsBehindEntry) {
      return;
    }
    flush();
    int first = (int) Math.min(length, PAGE_MASK + 1 - (address & PAGE_MASK));
    int second = length - first;
    int odd = first % BEAT;
    if (second == 0 || odd == 0 || odd + second > BEAT) {
      translation.write(key, address, source, at, length);
      return;
    }
    translation.write(key, address, source, at, first);
    String why =
        "write of %d bytes to 0x%x crosses a page: %d and %d bytes"
            .formatted(length, address, first, second);
    if (odd + second < BEAT) {
      stop("12.2", why);
    } else {
      hazards.strike("12.2", why + ": the tail waits for the next write");
      byte[] tail = new byte[second];
      MemorySegment.copy(source, at + first, MemorySegment.ofArray(tail), 0, second);
      waiting.add(new Waiting(key, address + first, tail, null));
    }
  }

  /** Writes data of one packet to the data units that are next in a list. */
  Result scatter(SgeList list, int pd, MemorySegment source, int length) {
    for (int done = 0; done < length; ) {
      int i = list.index();
      if (i == list.count()) {
        return Result.TOO_LONG;
      }
      if (translation.check(list.key(i), pd, list.address(i), list.length(i), MptFlags.LOCAL_WRITE)
          != Translation.OK) {
        return Result.DENIED;
      }
      int piece = Math.min(length - done, list.room());
      write(list.key(i), list.position(), source, done, piece);
      list.use(piece);
      done += piece;
    }
    return Result.DONE;
  }

  /** Writes a CQE of {@link Cqe#SIZE} bytes, and changes them where CQEs are late. */
  void complete(OnChipCq queue, MemorySegment entry) {
    if (stopped) {
      return;
    }
    stopped = stopsBehindEntry;
    if (entriesAreLate) {
      MemorySegment.copy(entry, 0, swap, 0, Cqe.SIZE);
      MemorySegment.copy(late, 0, entry, 0, Cqe.SIZE);
      MemorySegment.copy(swap, 0, late, 0, Cqe.SIZE);
    }
    if (waiting.isEmpty()) {
      put(queue, entry);
    } else {
      byte[] bytes = new byte[Cqe.SIZE];
      MemorySegment.copy(entry, 0, MemorySegment.ofArray(bytes), 0, Cqe.SIZE);
      waiting.add(new Waiting(0, 0, bytes, queue));
    }
  }

  /** From now on each CQE is written when the next one is due, to the queue of that one. */
  void delayEntries() {
    if (!entriesAreLate) {
      late.fill((byte) 0);
    }
    entriesAreLate = true;
  }

  private void flush() {
    while (!waiting.isEmpty()) {
      Waiting next = waiting.remove();
      MemorySegment bytes = MemorySegment.ofArray(next.bytes);
      if (next.queue != null) {
        put(next.queue, bytes);
      } else {
        translation.write(next.key, next.address, bytes, 0, next.bytes.length);
      }
    }
  }

  /** The card does not check that the entry is free. An offset beyond the ring is used once. */
  private void put(OnChipCq queue, MemorySegment entry) {
    int wrong =
        translation.checkQueue(queue.key, queue.pd, queue.offset, Cqe.SIZE, MptFlags.LOCAL_WRITE);
    if (queue.owned && wrong == Translation.OK) {
      translation.writeQueue(queue.key, queue.offset, entry, 0, Cqe.SIZE);
      entries++;
    } else {
      hazards.strike(
          "5.2", "CQE at offset 0x%x of CQ 0x%x is lost".formatted(queue.offset, queue.cqn));
    }
    queue.offset = queue.offset + Cqe.SIZE & (Cqe.SIZE << queue.logSize) - 1;
  }

  /** Number of CQEs written. */
  long entries() {
    return entries;
  }

  void reset() {
    waiting.clear();
    stopped = false;
    stopsBehindEntry = false;
    entriesAreLate = false;
  }
}

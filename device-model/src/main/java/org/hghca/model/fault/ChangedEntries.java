package org.hghca.model.fault;

import java.lang.foreign.MemorySegment;
import org.hghca.abi.Cqe;
import org.hghca.virtio.abi.roce.CompletionEntry;

/** Entries of completion queues and event queues that are wrong, or in the wrong place. */
final class ChangedEntries {
  /** The bit of a queue pair's number that is wrong. */
  private static final int WRONG_BIT = 1 << 5;

  private ChangedEntries() {}

  private static boolean isVirtio(byte[] entry) {
    return entry.length == CompletionEntry.SIZE;
  }

  /** Another queue pair's number. */
  static byte[] wrongQpn(byte[] entry, Place place, long iova) {
    MemorySegment fields = MemorySegment.ofArray(entry);
    if (isVirtio(entry)) {
      CompletionEntry.QPN.set(fields, 0, CompletionEntry.QPN.get(fields, 0) ^ WRONG_BIT);
    } else {
      entry[0] ^= WRONG_BIT;
    }
    return entry;
  }

  /** Another opcode, except in an entry of an error. */
  static byte[] wrongOpcode(byte[] entry, Place place, long iova) {
    if (isVirtio(entry)) {
      entry[CompletionEntry.OPCODE.offset()] ^= 1;
    } else if (entry[Cqe.LAST_DWORD_OFFSET] != (byte) Cqe.OPCODE_MASK) {
      entry[Cqe.LAST_DWORD_OFFSET] ^= 1;
    }
    return entry;
  }

  /** Entries after the last one of the ring are lost: the position does not return to 0. */
  static final class NoWrap extends Injection {
    private final Use use;

    NoWrap(Use use) {
      this.use = use;
    }

    @Override
    boolean store(Place place, long iova, byte[] bytes) {
      boolean isLost = place.use() == use && place.ring().hasTurned(iova);
      return isLost || super.store(place, iova, bytes);
    }
  }

  /** Each fifth completion is written twice, and the next ones behind it. */
  static final class Twice extends Injection {
    private static final int EACH = 5;

    private int written;

    @Override
    boolean fetch(Place place, long iova, MemorySegment to, long offset, long length) {
      return super.fetch(place, moved(place, iova), to, offset, length);
    }

    private static long moved(Place place, long iova) {
      return place.use() == Use.COMPLETION ? place.ring().moved(iova) : iova;
    }

    @Override
    boolean store(Place place, long iova, byte[] bytes) {
      boolean stored = store(moved(place, iova), bytes);
      if (place.use() == Use.COMPLETION && ++written % EACH == 0) {
        place.ring().skip();
        stored &= store(moved(place, iova), bytes);
      }
      return stored;
    }
  }
}

package org.hghca.model.fault;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/** Payload that is in the wrong place, comes at the wrong time, or is that of another message. */
final class MisplacedPayload {
  private MisplacedPayload() {}

  /** What belongs into some pages of a region goes to earlier ones. */
  static final class WrongPage extends Injection {
    private static final int UPPER_BIT = 512;

    private final int first;
    private final int end;
    private final int back;

    private WrongPage(int first, int end, int back) {
      this.first = first;
      this.end = end;
      this.back = back;
    }

    /** The second page is the first one. */
    static WrongPage second() {
      return new WrongPage(1, 2, 1);
    }

    /** A page from 512 on is that with a number lower by 512. */
    static WrongPage far() {
      return new WrongPage(UPPER_BIT, Integer.MAX_VALUE, UPPER_BIT);
    }

    @Override
    boolean store(Place place, long iova, byte[] bytes) {
      boolean isPayload = place.use() == Use.PAYLOAD;
      return store(isPayload ? site().watch().misplaced(iova, first, end, back) : iova, bytes);
    }
  }

  /** Eight bytes behind each write are overwritten, where the host allows it. */
  static final class Outside extends Injection {
    private static final byte[] STRAY = new byte[8];

    static {
      Arrays.fill(STRAY, (byte) 0x5a);
    }

    @Override
    boolean store(Place place, long iova, byte[] bytes) {
      boolean stored = super.store(place, iova, bytes);
      if (place.use() == Use.PAYLOAD) {
        store(iova + bytes.length, STRAY);
      }
      return stored;
    }
  }

  /** The card writes its completion first, and payload 5 ms later. */
  static final class Late extends Injection {
    private static final long NANOS = 5_000_000;

    private final LateWork late = new LateWork();

    @Override
    boolean store(Place place, long iova, byte[] bytes) {
      if (place.use() != Use.PAYLOAD) {
        return super.store(place, iova, bytes);
      }
      late.add(() -> store(iova, bytes));
      return true;
    }

    @Override
    boolean hasWork() {
      return late.hasNew();
    }

    @Override
    boolean step(long now) {
      return late.step(now, NANOS);
    }

    @Override
    long nextDeadline() {
      return late.nextDeadline();
    }

    @Override
    void reset() {
      late.clear();
    }
  }

  /** The bytes that the card fetches for a message are those that it fetched before. */
  static final class Old extends Injection {
    private byte[] before = {};

    @Override
    boolean fetch(Place place, long iova, MemorySegment to, long offset, long length) {
      boolean done = super.fetch(place, iova, to, offset, length);
      if (done && place.use() == Use.PAYLOAD) {
        MemorySegment fetched = to.asSlice(offset, length);
        byte[] present = fetched.toArray(ValueLayout.JAVA_BYTE);
        int old = Math.min(before.length, present.length);
        MemorySegment.copy(MemorySegment.ofArray(before), 0, fetched, 0, old);
        before = present;
      }
      return done;
    }

    @Override
    void reset() {
      before = new byte[0];
    }
  }

  /** Each second page of context memory is the one before it. */
  static final class AliasedIcm extends Injection {
    private long moved(Place place, long iova) {
      return place.use() == Use.ICM ? site().watch().alias(iova) : iova;
    }

    @Override
    boolean fetch(Place place, long iova, MemorySegment to, long offset, long length) {
      return super.fetch(place, moved(place, iova), to, offset, length);
    }

    @Override
    boolean store(Place place, long iova, byte[] bytes) {
      return store(moved(place, iova), bytes);
    }
  }
}

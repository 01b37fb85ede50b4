package org.hghca.model.fault;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.function.Predicate;

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

  /** What a card writes goes where a wrong translation has it. */
  static final class Translated extends Injection {
    /** The address that is used instead of one. */
    interface Translation {
      long of(Watch watch, long iova);
    }

    private final Translation translation;

    Translated(Translation translation) {
      this.translation = translation;
    }

    @Override
    boolean store(Place place, long iova, byte[] bytes) {
      boolean isPayload = place.use() == Use.PAYLOAD;
      return store(isPayload ? translation.of(site().watch(), iova) : iova, bytes);
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

  /** The card writes some of what it writes later, behind what follows it. */
  static final class Late extends Injection {
    private final LateWork late = new LateWork();
    private final Predicate<Use> uses;
    private final long nanos;

    /**
     * @param uses what is late
     * @param nanos how late
     */
    Late(Predicate<Use> uses, long nanos) {
      this.nanos = nanos;
      this.uses = uses;
    }

    @Override
    boolean store(Place place, long iova, byte[] bytes) {
      if (!uses.test(place.use())) {
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
      return late.step(now, nanos);
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

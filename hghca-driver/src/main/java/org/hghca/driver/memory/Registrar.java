package org.hghca.driver.memory;

import java.util.concurrent.ThreadLocalRandom;
import jdk.jfr.FlightRecorder;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.Mpt;
import org.hghca.abi.MptFlags;
import org.hghca.abi.WriteMtt;
import org.hghca.icm.IcmManager;
import org.hghca.icm.IcmRange;
import org.hghca.icm.IcmTable;
import org.hghca.mailbox.CommandInterface;
import org.hghca.mailbox.DeviceFatalException;
import org.hghca.provider.DeferredFree;
import org.hghca.provider.NumberAllocator;
import org.hghca.provider.Undo;
import org.hghca.provider.queue.RingSlabs;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.RangeAllocator;

/**
 * Registers memory with the card: a range of MTT entries with the pages, and an MPT entry with
 * bounds, rights and key. Thread-safe.
 */
public final class Registrar {
  /** The card reads and writes MTT entries by lines of four (32 bytes): no two owners share one. */
  private static final long MTT_LINE = 4;

  private static final int VARIANT_SHIFT = 24;

  private final CommandInterface commands;
  private final IcmManager icm;
  private final DeferredFree deferredFree;
  private final int endKey;
  private final long granularity;
  private final int capacity;
  private final NumberAllocator mptIndexes;
  private final RangeAllocator mttEntries;

  /** The high bits of the last key: a key that is used after its end does not name the next. */
  private int variant = ThreadLocalRandom.current().nextInt(1 << Integer.SIZE - VARIANT_SHIFT);

  public Registrar(
      CommandInterface commands,
      IcmManager icm,
      HardwareProfile profile,
      DeferredFree deferredFree,
      int reservedKeys,
      int reservedMtts) {
    this.commands = commands;
    this.icm = icm;
    this.deferredFree = deferredFree;
    this.granularity = profile.remoteBoundsGranularity();
    int keys = (int) Math.min(icm.capacity(IcmTable.MPT), 1L << VARIANT_SHIFT);
    // Key 0 is never allocated: an uninitialized key would name valid memory.
    int firstKey = Math.max(1, reservedKeys);
    this.mptIndexes = new NumberAllocator("memory keys", firstKey, keys);
    this.endKey = keys;
    this.capacity = keys - firstKey;
    long firstMtt = reservedMtts + MTT_LINE - 1 & -MTT_LINE;
    this.mttEntries = new RangeAllocator(firstMtt, icm.capacity(IcmTable.MTT), MTT_LINE);
  }

  /** Memory whose pages are in the translation table. */
  private record Translation(DmaMapping mapping, long firstMtt, IcmRange mtt) {}

  /** Memory that is registered with the card. Closing makes the card release it; idempotent. */
  public final class Registration implements RingSlabs.Backing, AutoCloseable {
    private final int index;
    private final int key;
    private final IcmRange mpt;
    private final Runnable afterwards;

    /** Whether the memory and its entries are those of another registration. */
    private final boolean borrows;

    private Translation translation;

    /** Whether the card owns the MPT entry. */
    private boolean taken;

    private boolean closed;

    private Registration(
        Translation translation, boolean borrows, Runnable afterwards, int index, IcmRange mpt) {
      this.translation = translation;
      this.borrows = borrows;
      this.afterwards = afterwards;
      this.index = index;
      this.key = nextVariant() << VARIANT_SHIFT | index;
      this.mpt = mpt;
    }

    public int key() {
      return key;
    }

    /** Whether the memory is registered with the card. */
    public synchronized boolean isTaken() {
      return taken;
    }

    @Override
    public synchronized DmaMapping mapping() {
      return translation.mapping;
    }

    /**
     * Changes the registration of the key, between HW2SW_MPT and SW2HW_MPT. If the card refuses the
     * second, the key gives no access any more, and the memory is unchanged.
     *
     * @param other the new memory, which the registration owns even when this throws; null to keep
     *     the old one
     * @param beforehand runs when only the card can still refuse; may throw
     * @param start the address of the first byte
     */
    public synchronized void change(
        DmaMapping other, Runnable beforehand, int pd, int accessBits, long start) {
      Translation old = translation;
      try (Undo undo = new Undo()) {
        Translation next = old;
        if (other != null) {
          undo.add(other::close);
          next = translate(other);
          Translation added = next;
          undo.add(() -> freeEntries(added));
        }
        beforehand.run();
        if (taken) {
          commands.hw2swMpt(index);
          taken = false;
        }
        try {
          give(next, pd, accessBits, start);
        } catch (DeviceFatalException e) {
          // The card may have taken the entry before it stopped responding.
          taken = true;
          undo.forget();
          if (other != null) {
            deferredFree.keepUntilReset("memory key 0x%x".formatted(key), e, other::close);
          }
          throw e;
        }
        undo.forget();
        translation = next;
      }
      if (other != null) {
        try {
          old.mapping.close();
        } finally {
          freeEntries(old);
        }
      }
    }

    /** SW2HW_MPT; the bounds are as exact as the card can check them. */
    private void give(Translation pages, int pd, int accessBits, long start) {
      long before = start & granularity - 1;
      long length = before + pages.mapping.segment().byteSize() + granularity - 1 & -granularity;
      commands.sw2hwMpt(
          index,
          new Mpt(
              MptFlags.MIO | MptFlags.REGION | accessBits,
              0, // log2 of the page size, minus 12
              key,
              pd,
              start - before,
              length,
              0,
              0,
              0,
              pages.firstMtt,
              0));
      taken = true;
      commands.awaitExecution();
    }

    @Override
    public synchronized void close() {
      if (!closed) {
        closed = true;
        deferredFree.retire(
            "memory key 0x%x".formatted(key), this::reclaim, this::freeMemory, this::freeNumbers);
      }
    }

    private void reclaim() {
      if (taken) {
        commands.hw2swMpt(index);
      }
    }

    private void freeMemory() {
      if (!borrows) {
        mapping().close();
      }
      afterwards.run();
    }

    private void freeNumbers() {
      mpt.close();
      if (!borrows) {
        freeEntries(translation);
      }
      mptIndexes.free(index);
    }
  }

  private synchronized int nextVariant() {
    variant = variant + 1 & 0xff;
    return variant;
  }

  /** Registers memory of a queue, which the card addresses from its first byte. */
  public Registration registerQueue(DmaMapping mapping, int pd, int accessBits) {
    return register(mapping, () -> {}, pd, accessBits, 0);
  }

  /**
   * Registers memory of a queue once more, under a key of its own.
   *
   * @param first keeps the memory, and is closed later
   */
  public Registration registerAgain(Registration first, int pd, int accessBits) {
    return withKey(first.translation, true, () -> {}, pd, accessBits, 0);
  }

  /**
   * Registers memory of an application.
   *
   * @param mapping owned by the registration from here on, unless this throws
   * @param afterwards runs when the card can no longer access the memory
   * @param start the address of the first byte
   */
  public Registration registerUser(
      DmaMapping mapping, Runnable afterwards, int pd, int accessBits, long start) {
    return register(mapping, afterwards, pd, accessBits, start);
  }

  private Registration register(
      DmaMapping mapping, Runnable afterwards, int pd, int accessBits, long start) {
    MemoryRegistrationEvent event =
        FlightRecorder.isInitialized() ? new MemoryRegistrationEvent() : null;
    if (event != null) {
      event.begin();
    }
    try (Undo undo = new Undo()) {
      Translation translation = translate(mapping);
      undo.add(() -> freeEntries(translation));
      Registration registration = withKey(translation, false, afterwards, pd, accessBits, start);
      undo.forget();
      if (event != null) {
        event.end();
        report(event, mapping, registration);
      }
      return registration;
    }
  }

  private Registration withKey(
      Translation translation,
      boolean borrows,
      Runnable afterwards,
      int pd,
      int accessBits,
      long start) {
    try (Undo undo = new Undo()) {
      int index = mptIndexes.allocate();
      undo.add(() -> mptIndexes.free(index));
      IcmRange mpt = icm.reserve(IcmTable.MPT, index, 1);
      undo.add(mpt::close);
      Registration registration = new Registration(translation, borrows, afterwards, index, mpt);
      registration.give(translation, pd, accessBits, start);
      undo.forget();
      return registration;
    }
  }

  private static void report(
      MemoryRegistrationEvent event, DmaMapping mapping, Registration registration) {
    if (event.shouldCommit()) {
      event.bytes = mapping.segment().byteSize();
      event.pages = pages(mapping);
      event.lkey = registration.key;
      event.commit();
    }
  }

  private static long pages(DmaMapping mapping) {
    long length = mapping.segment().byteSize();
    long inPage = mapping.segment().address() & DmaMapping.PAGE_SIZE - 1;
    return (inPage + length + DmaMapping.PAGE_SIZE - 1) / DmaMapping.PAGE_SIZE;
  }

  /** Writes the pages of memory into the translation table. */
  private Translation translate(DmaMapping mapping) {
    long inPage = mapping.segment().address() & DmaMapping.PAGE_SIZE - 1;
    long pages = pages(mapping);
    try (Undo undo = new Undo()) {
      long firstMtt =
          mttEntries
              .allocate(pages)
              .orElseThrow(
                  () ->
                      new VerbsException(
                          Errno.ENOMEM,
                          ("no room for %d pages in the device's translation table of %d entries:"
                                  + " deregister memory first")
                              .formatted(pages, icm.capacity(IcmTable.MTT))));
      undo.add(() -> mttEntries.free(firstMtt));
      IcmRange mtt = icm.reserve(IcmTable.MTT, firstMtt, pages);
      undo.add(mtt::close);
      writeMtt(mapping, firstMtt, pages, inPage);
      undo.forget();
      return new Translation(mapping, firstMtt, mtt);
    }
  }

  private void freeEntries(Translation translation) {
    translation.mtt.close();
    mttEntries.free(translation.firstMtt);
  }

  private void writeMtt(DmaMapping mapping, long firstMtt, long pages, long inPage) {
    for (long done = 0; done < pages; done += WriteMtt.MAX_ENTRIES) {
      long from = done;
      commands.writeMtt(
          firstMtt + from,
          Math.toIntExact(Math.min(WriteMtt.MAX_ENTRIES, pages - from)),
          entry -> pageAddress(mapping, from + entry, inPage));
    }
  }

  private static long pageAddress(DmaMapping mapping, long page, long inPage) {
    long offset = Math.max(0, page * DmaMapping.PAGE_SIZE - inPage);
    return mapping.iova(offset) & -DmaMapping.PAGE_SIZE;
  }

  /** The first index without a key. */
  public int endKey() {
    return endKey;
  }

  /** Maximum number of registrations. */
  public int capacity() {
    return capacity;
  }
}

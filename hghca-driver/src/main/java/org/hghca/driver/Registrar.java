package org.hghca.driver;

import org.hghca.abi.HardwareProfile;
import org.hghca.abi.Mpt;
import org.hghca.abi.MptFlags;
import org.hghca.icm.IcmManager;
import org.hghca.icm.IcmRange;
import org.hghca.icm.IcmTable;
import org.hghca.mailbox.CommandInterface;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.RangeAllocator;

/**
 * Makes memory known to the card: a range of MTT entries that holds the pages, and an MPT entry
 * that holds bounds, rights and key. Thread-safe.
 */
final class Registrar {
  /** The card reads and writes MTT entries by lines of four (32 bytes): no two owners share one. */
  private static final long MTT_LINE = 4;

  private static final int VARIANT_SHIFT = 24;

  private final CommandInterface commands;
  private final IcmManager icm;
  private final Retirement retirement;
  private final int mttBatch;
  private final int capacity;
  private final NumberAllocator mptIndexes;
  private final RangeAllocator mttEntries;
  private int variant;

  Registrar(
      CommandInterface commands,
      IcmManager icm,
      HardwareProfile profile,
      Retirement retirement,
      int reservedKeys,
      int reservedMtts) {
    this.commands = commands;
    this.icm = icm;
    this.retirement = retirement;
    this.mttBatch = profile.mttMaxPerWrite();
    int keys = (int) Math.min(icm.capacity(IcmTable.MPT), 1L << VARIANT_SHIFT);
    // Key 0 is never given out: a forgotten key would name somebody's memory.
    int firstKey = Math.max(1, reservedKeys);
    this.mptIndexes = new NumberAllocator("memory keys", firstKey, keys);
    this.capacity = keys - firstKey;
    long firstMtt = reservedMtts + MTT_LINE - 1 & -MTT_LINE;
    this.mttEntries = new RangeAllocator(firstMtt, icm.capacity(IcmTable.MTT), MTT_LINE);
  }

  /** Memory that the card knows. Closing makes the card forget it; idempotent. */
  final class Registration implements AutoCloseable {
    private final DmaMapping mapping;
    private final int index;
    private final int key;
    private final long firstMtt;
    private final IcmRange mpt;
    private final IcmRange mtt;
    private final Runnable afterwards;
    private boolean closed;

    private Registration(
        DmaMapping mapping,
        Runnable afterwards,
        int index,
        long firstMtt,
        IcmRange mpt,
        IcmRange mtt) {
      this.mapping = mapping;
      this.afterwards = afterwards;
      this.index = index;
      this.key = nextVariant() << VARIANT_SHIFT | index;
      this.firstMtt = firstMtt;
      this.mpt = mpt;
      this.mtt = mtt;
    }

    int key() {
      return key;
    }

    DmaMapping mapping() {
      return mapping;
    }

    @Override
    public synchronized void close() {
      if (!closed) {
        closed = true;
        retirement.retire(
            "memory key 0x%x".formatted(key),
            () -> commands.hw2swMpt(index),
            this::freeMemory,
            this::freeNumbers);
      }
    }

    private void freeMemory() {
      mapping.close();
      afterwards.run();
    }

    private void freeNumbers() {
      mpt.close();
      mtt.close();
      mttEntries.free(firstMtt);
      mptIndexes.free(index);
    }
  }

  private synchronized int nextVariant() {
    variant = variant + 1 & 0xff;
    return variant;
  }

  /** Registers memory of a queue, which the card addresses from its first byte. */
  Registration registerQueue(DmaMapping mapping, int pd, int accessBits) {
    return register(mapping, () -> {}, pd, accessBits, 0);
  }

  /**
   * Registers memory that is addressed as the process addresses it.
   *
   * @param afterwards is done when the card can no longer reach the memory
   */
  Registration registerUser(DmaMapping mapping, Runnable afterwards, int pd, int accessBits) {
    return register(mapping, afterwards, pd, accessBits, mapping.segment().address());
  }

  /**
   * Registers.
   *
   * @param mapping belongs to the registration from here on, unless this throws
   * @param start the address of the first byte
   */
  private Registration register(
      DmaMapping mapping, Runnable afterwards, int pd, int accessBits, long start) {
    long length = mapping.segment().byteSize();
    long inPage = mapping.segment().address() & DmaMapping.PAGE_SIZE - 1;
    long pages = (inPage + length + DmaMapping.PAGE_SIZE - 1) / DmaMapping.PAGE_SIZE;
    MemoryRegistrationEvent event = new MemoryRegistrationEvent();
    event.begin();
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
      int index = mptIndexes.allocate();
      undo.add(() -> mptIndexes.free(index));
      IcmRange mtt = icm.reserve(IcmTable.MTT, firstMtt, pages);
      undo.add(mtt::close);
      IcmRange mpt = icm.reserve(IcmTable.MPT, index, 1);
      undo.add(mpt::close);
      writeMtt(mapping, firstMtt, pages, inPage);
      Registration registration = new Registration(mapping, afterwards, index, firstMtt, mpt, mtt);
      commands.sw2hwMpt(
          index,
          new Mpt(
              MptFlags.MIO | MptFlags.REGION | accessBits,
              0, // log2 of the page size, less 12
              registration.key,
              pd,
              start,
              length,
              0,
              0,
              0,
              firstMtt,
              0));
      undo.forget();
      event.end();
      if (event.shouldCommit()) {
        event.bytes = length;
        event.pages = pages;
        event.lkey = registration.key;
        event.commit();
      }
      return registration;
    }
  }

  private void writeMtt(DmaMapping mapping, long firstMtt, long pages, long inPage) {
    for (long done = 0; done < pages; done += mttBatch) {
      long from = done;
      commands.writeMtt(
          firstMtt + from,
          Math.toIntExact(Math.min(mttBatch, pages - from)),
          entry -> pageAddress(mapping, from + entry, inPage));
    }
  }

  private static long pageAddress(DmaMapping mapping, long page, long inPage) {
    long offset = Math.max(0, page * DmaMapping.PAGE_SIZE - inPage);
    return mapping.iova(offset) & -DmaMapping.PAGE_SIZE;
  }

  /** How many registrations there can be. */
  int capacity() {
    return capacity;
  }
}

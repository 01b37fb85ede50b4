package org.hghca.driver.rtl;

import java.util.HashMap;
import java.util.Map;
import org.hghca.abi.MptFlags;
import org.hghca.driver.memory.QueueMemory;
import org.hghca.driver.memory.Registrar;
import org.hghca.provider.NumberAllocator;
import org.hghca.provider.Undo;
import org.hghca.verbs.WrapMemory;
import org.hghca.vfio.DmaMapping;

/**
 * The memory by which queue pairs pass the wrap of their PSNs: a page of zeros that peers READ, and
 * a page that our own READs write and nobody reads. Each protection domain has a key for either.
 *
 * <p>The first RTL checks no lower bound of a region: below it, a key reaches the pages whose
 * entries are in front of its own in the translation table. So these pages are registered before
 * any other memory, the one for peers first, with addresses from 0: nothing is in front of it.
 */
final class WrapPages implements AutoCloseable {
  /** Bytes of each page. */
  static final int BYTES = DmaMapping.PAGE_SIZE;

  private final QueueMemory memory;
  private final NumberAllocator pdNumbers;

  /**
   * A protection domain without queue pairs, so that the registrations that hold the pages give no
   * access.
   */
  private final int pd;

  /** Of the protection domains that use them, by number. */
  private final Map<Integer, Keys> keys = new HashMap<>();

  private final Registrar.Registration zeros;
  private final Registrar.Registration sink;

  /** Registers the pages, before any other memory. */
  WrapPages(NumberAllocator pdNumbers, QueueMemory memory) {
    this.memory = memory;
    this.pdNumbers = pdNumbers;
    try (Undo undo = new Undo()) {
      pd = pdNumbers.allocate();
      undo.add(() -> pdNumbers.free(pd));
      zeros = memory.register(BYTES, pd, 0);
      undo.add(zeros::close);
      sink = memory.register(BYTES, pd, 0);
      undo.forget();
    }
  }

  /** The keys of a protection domain. */
  final class Keys {
    private final Registrar.Registration offered;
    private final Registrar.Registration written;

    private Keys(int pd) {
      try (Undo undo = new Undo()) {
        offered = memory.registerAgain(zeros, pd, MptFlags.REMOTE_READ);
        undo.add(offered::close);
        written = memory.registerAgain(sink, pd, MptFlags.LOCAL_WRITE);
        undo.forget();
      }
    }

    /** What the domain's queue pairs offer their peers. */
    WrapMemory offer() {
      return new WrapMemory(offered.key(), 0, BYTES);
    }

    /** The key of the memory at address 0 that the domain's own READs write. */
    int sinkKey() {
      return written.key();
    }

    private void close() {
      try (Undo undo = new Undo()) {
        undo.add(offered::close);
        undo.add(written::close);
      }
    }
  }

  /** The keys of a protection domain, whose first use registers the pages for it. */
  synchronized Keys keys(int domain) {
    return keys.computeIfAbsent(domain, Keys::new);
  }

  /** A protection domain has no queue pairs any more. */
  void endDomain(int domain) {
    Keys ended;
    synchronized (this) {
      ended = keys.remove(domain);
    }
    if (ended != null) {
      ended.close();
    }
  }

  @Override
  public void close() {
    sink.close();
    zeros.close();
    pdNumbers.free(pd);
  }
}

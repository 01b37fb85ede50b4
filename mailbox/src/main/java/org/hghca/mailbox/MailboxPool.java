package org.hghca.mailbox;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.PciFunction;

/**
 * The mailboxes of a card: pages of DMA memory for parameters that do not fit into the HCR
 * (interface document, 1.1). They are allocated on first use, lent zeroed, and reused after they
 * are returned. Guarded by the lock of its owner.
 */
final class MailboxPool {
  static final int MAILBOX_SIZE = 4096;

  private final PciFunction function;
  private final int capacity;
  private final Deque<DmaMapping> idle = new ArrayDeque<>();
  private final List<DmaMapping> withheld = new ArrayList<>();
  private int existing;

  MailboxPool(PciFunction function, int capacity) {
    this.function = function;
    this.capacity = capacity;
  }

  /**
   * Lends a mailbox, all zero.
   *
   * @throws IllegalStateException when all are lent
   */
  Mailbox lend() {
    DmaMapping page = idle.pollFirst();
    if (page == null) {
      if (existing == capacity) {
        throw new IllegalStateException("all %d mailboxes are in use".formatted(capacity));
      }
      page = function.allocate(MAILBOX_SIZE);
      existing++;
    }
    page.segment().fill((byte) 0);
    return new Mailbox(page);
  }

  /** Frees the mailboxes that the card may have been writing, after it was reset. */
  void releaseWithheld() {
    withheld.forEach(DmaMapping::close);
    existing -= withheld.size();
    withheld.clear();
  }

  /** Frees all idle mailboxes. */
  void releaseIdle() {
    idle.forEach(DmaMapping::close);
    existing -= idle.size();
    idle.clear();
  }

  /** One lent mailbox; closing returns it. */
  final class Mailbox implements AutoCloseable {
    private final DmaMapping page;
    private boolean returned;

    private Mailbox(DmaMapping page) {
      this.page = page;
    }

    MemorySegment segment() {
      return page.segment();
    }

    long iova() {
      return page.iova(0);
    }

    /** Withholds the page from reuse: a command that did not complete may still access it. */
    void withhold() {
      if (!returned) {
        returned = true;
        withheld.add(page);
      }
    }

    @Override
    public void close() {
      if (!returned) {
        returned = true;
        idle.addFirst(page);
      }
    }
  }
}

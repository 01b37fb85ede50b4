package org.hghca.tools.card;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.PciFunction;

/**
 * An inbox and an outbox for one command at a time. Those of a command that has not ended are never
 * used again, since the card may still write to them.
 */
final class Mailboxes implements AutoCloseable {
  static final int SIZE = 4096;

  private final PciFunction function;
  private final List<DmaMapping> all = new ArrayList<>();
  private DmaMapping inbox;
  private DmaMapping outbox;

  Mailboxes(PciFunction function) {
    this.function = function;
  }

  /** The address of the inbox that holds bytes. */
  long inbox(byte[] bytes) {
    if (inbox == null) {
      inbox = allocate();
    }
    inbox.segment().fill((byte) 0);
    MemorySegment.copy(MemorySegment.ofArray(bytes), 0, inbox.segment(), 0, bytes.length);
    return inbox.iova(0);
  }

  /** The address of the outbox, which holds zeros. */
  long outbox() {
    if (outbox == null) {
      outbox = allocate();
    }
    outbox.segment().fill((byte) 0);
    return outbox.iova(0);
  }

  /** What the card has written. */
  MemorySegment written() {
    return outbox.segment();
  }

  private DmaMapping allocate() {
    DmaMapping page = function.allocate(SIZE);
    all.add(page);
    return page;
  }

  /** The command has not ended. */
  void abandon() {
    inbox = null;
    outbox = null;
  }

  /** After the card's DMA has ended. */
  @Override
  public void close() {
    abandon();
    all.forEach(DmaMapping::close);
    all.clear();
  }
}

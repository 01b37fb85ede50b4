package org.hghca.model.virtio;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.hghca.model.card.HostMemory;
import org.hghca.virtio.abi.AvailableRing;
import org.hghca.virtio.abi.Descriptor;
import org.hghca.virtio.abi.Feature;
import org.hghca.virtio.abi.Field;
import org.hghca.virtio.abi.UsedRing;

/**
 * The device's side of a split virtqueue. A chain is read once: what the driver changes later has
 * no effect. It never suppresses notifications. Used in steps of the card, by one thread.
 */
final class SplitQueue {
  private static final int INDEX_MASK = 0xffff;
  private static final Field EVENT = Field.le16("event", 0);

  private final HostMemory host;
  private final QueueSetup setup;
  private final boolean indirect;
  private final boolean eventIndex;
  private final MemorySegment scratch = Arena.ofAuto().allocate(Descriptor.SIZE, 8);

  /** The next entry of the available ring to take. */
  private int next;

  /** The next entry of the used ring to fill, and the index that the driver sees. */
  private int used;

  private int published;

  /**
   * @param features that were negotiated
   */
  SplitQueue(HostMemory host, QueueSetup setup, long features) {
    this.host = host;
    this.setup = setup;
    this.indirect = (features & Feature.mask(Feature.INDIRECT_DESC)) != 0;
    this.eventIndex = (features & Feature.mask(Feature.EVENT_IDX)) != 0;
  }

  /** The interrupt vector, which the driver may change at any time. */
  int vector() {
    return setup.vector();
  }

  /** Reads a field of two bytes, which all words of rings are. */
  private int read(long address, Field field) throws QueueException {
    int word = host.readShort(address + field.offset());
    if (word >= 0) {
      return word;
    }
    if (!host.read(address + field.offset(), scratch, field.offset(), field.width())) {
      throw new QueueException("a ring cannot be read");
    }
    return field.get(scratch, 0);
  }

  private void write(long address, Field field, int value) throws QueueException {
    field.set(scratch, 0, value);
    if (!host.write(address + field.offset(), scratch, field.offset(), field.width())) {
      throw new QueueException("the used ring cannot be written");
    }
  }

  /** How many chains wait. */
  int available() throws QueueException {
    int waiting = read(setup.driver(), AvailableRing.INDEX) - next & INDEX_MASK;
    if (waiting > setup.size()) {
      throw new QueueException(
          "the available index jumps by %d in a queue of %d".formatted(waiting, setup.size()));
    }
    return waiting;
  }

  /**
   * Takes the next chain, if one waits.
   *
   * @return whether there was one
   */
  boolean take(Chain chain) throws QueueException {
    if (available() == 0) {
      return false;
    }
    long entry = setup.driver() + AvailableRing.entry(next & setup.size() - 1);
    int head = read(entry, EVENT);
    chain.begin(head);
    collect(chain, setup.descriptors(), setup.size(), head, indirect);
    next = next + 1 & INDEX_MASK;
    return true;
  }

  /** Leaves the chain that was taken last for later. */
  void putBack() {
    next = next - 1 & INDEX_MASK;
  }

  private void collect(Chain chain, long table, int entries, int first, boolean mayRefer)
      throws QueueException {
    int at = first;
    boolean more = true;
    while (more) {
      if (at >= entries) {
        throw new QueueException("descriptor %d of %d".formatted(at, entries));
      }
      if (!host.read(table + (long) at * Descriptor.SIZE, scratch, 0, Descriptor.SIZE)) {
        throw new QueueException("a descriptor cannot be read");
      }
      long address = Descriptor.ADDRESS.getLong(scratch, 0);
      long length = Descriptor.LENGTH.getLong(scratch, 0);
      int flags = Descriptor.FLAGS.get(scratch, 0);
      at = Descriptor.NEXT.get(scratch, 0);
      more = (flags & Descriptor.FLAG_NEXT) != 0;
      if ((flags & Descriptor.FLAG_INDIRECT) != 0) {
        if (!mayRefer || more) {
          throw new QueueException("a table of descriptors where none may be");
        }
        if (length == 0
            || length % Descriptor.SIZE != 0
            || length / Descriptor.SIZE > setup.size()) {
          throw new QueueException("a table of descriptors of %d bytes".formatted(length));
        }
        collect(chain, address, (int) length / Descriptor.SIZE, 0, false);
        return;
      }
      if (chain.isFull()) {
        throw new QueueException("a chain of more than %d descriptors".formatted(setup.size()));
      }
      if (length > 0 && Long.compareUnsigned(address + length - 1, address) < 0) {
        throw new QueueException("a buffer beyond all addresses");
      }
      if (!chain.add(address, length, (flags & Descriptor.FLAG_WRITE) != 0)) {
        throw new QueueException("a buffer to read behind one to write");
      }
    }
  }

  /**
   * Gives a chain back; the driver sees it after the next {@link #publish}.
   *
   * @param written bytes that were written into it
   */
  void complete(int head, int written) throws QueueException {
    long entry = setup.device() + UsedRing.entry(used & setup.size() - 1);
    // As one number, which a load of all eight bytes finds in the store buffer: of two halves it
    // would wait until they, and a payload before them, have left it.
    UsedRing.ENTRY.setLong(scratch, 0, (long) written << 32 | head);
    if (!host.write(entry, scratch, 0, UsedRing.ENTRY_SIZE)) {
      throw new QueueException("the used ring cannot be written");
    }
    used = used + 1 & INDEX_MASK;
  }

  /** Shows the driver what was given back, where no interrupt tells of the queue by itself. */
  void show() throws QueueException {
    if (published != used) {
      write(setup.device(), UsedRing.INDEX, used);
      published = used;
    }
  }

  /**
   * Shows the driver what was given back.
   *
   * @return whether it wants an interrupt for that
   */
  boolean publish() throws QueueException {
    if (published == used) {
      return false;
    }
    int before = published;
    show();
    VarHandle.fullFence(); // the driver sees the index, or we see that it wants an interrupt
    if (!eventIndex) {
      int flags = read(setup.driver(), AvailableRing.FLAGS);
      return (flags & AvailableRing.FLAG_NO_INTERRUPT) == 0;
    }
    int event = read(setup.driver() + AvailableRing.usedEvent(setup.size()), EVENT);
    return (used - event - 1 & INDEX_MASK) < (used - before & INDEX_MASK);
  }

  /**
   * Asks for a notification of the next chain.
   *
   * @return whether one waits already
   */
  boolean listen() throws QueueException {
    if (eventIndex) {
      write(setup.device() + UsedRing.availableEvent(setup.size()), EVENT, next);
      VarHandle.fullFence(); // the driver sees where we are, or we see its chain
    }
    return available() > 0;
  }
}

package org.hghca.driver.event;

import java.lang.foreign.MemorySegment;
import org.hghca.abi.Doorbell;
import org.hghca.abi.Eqe;
import org.hghca.abi.EventQueueContext;
import org.hghca.abi.MptFlags;
import org.hghca.driver.card.Card;
import org.hghca.driver.memory.QueueMemory;
import org.hghca.driver.memory.Registrar;
import org.hghca.driver.trace.EventRecord;
import org.hghca.icm.IcmRange;
import org.hghca.icm.IcmTable;
import org.hghca.provider.Undo;
import org.hghca.uar.UarPage;
import org.hghca.vfio.trace.DeviceTrace;

/**
 * An event queue: a ring of entries that the card fills and software returns, each by its owner
 * byte. Read by one thread at a time.
 */
final class EventQueue implements AutoCloseable {
  private final Card card;
  private final int number;
  private final IcmRange icm;
  private final Registrar.Registration memory;
  private final MemorySegment ring;
  private final int mask;

  /** Null if the card is not traced. */
  private final DeviceTrace trace;

  private int index;

  /** Receives entries. */
  interface Reader {

    /**
     * An event.
     *
     * @param type {@link Eqe#TYPE_COMPLETION} or the code of an event type
     * @param data CQN, QPN or port
     */
    void event(int type, int subtype, int data);
  }

  /**
   * Makes a queue and gives it to the card, armed.
   *
   * @param entries a power of two
   * @param vector its interrupt vector
   * @param pd the domain of its memory
   */
  EventQueue(Card card, QueueMemory queueMemory, int number, int entries, int vector, int pd) {
    this.card = card;
    this.number = number;
    this.trace = card.trace().orElse(null);
    this.mask = entries - 1;
    try (Undo undo = new Undo()) {
      this.icm = card.icm().reserve(IcmTable.EQC, number, 1);
      undo.add(icm::close);
      this.memory = queueMemory.register((long) entries * Eqe.SIZE, pd, MptFlags.LOCAL_WRITE);
      undo.add(memory::close);
      this.ring = memory.mapping().segment();
      for (int i = 0; i < entries; i++) {
        Eqe.free(ring, place(i));
      }
      int flags =
          EventQueueContext.OWNER_HW | EventQueueContext.TRANSLATE | EventQueueContext.ARMED;
      int logSize = Integer.numberOfTrailingZeros(entries);
      card.commands()
          .sw2hwEq(
              number, new EventQueueContext(flags, 0, logSize, vector, pd, memory.key(), 0, 0));
      undo.forget();
    }
  }

  int number() {
    return number;
  }

  private long place(int at) {
    return (long) (at & mask) * Eqe.SIZE;
  }

  /**
   * Reads the available entries, at most the size of the ring, and returns them to the card.
   *
   * @return the number of entries
   */
  int drain(Reader reader) {
    int count = 0;
    while (count <= mask) {
      long at = place(index);
      int owner = Eqe.owner(ring, at);
      if (owner != Eqe.OWNER_SOFTWARE) {
        if (owner != Eqe.OWNER_HARDWARE) {
          // Neither side would ever continue from here.
          card.health()
              .fail(
                  "entry %d of EQ 0x%x has the invalid owner byte 0x%02x"
                      .formatted(index & mask, number, owner));
        }
        break;
      }
      int type = Eqe.type(ring, at);
      int subtype = Eqe.subtype(ring, at);
      int data = Eqe.data(ring, at);
      if (trace != null) {
        EventRecord.record(trace, number, type, subtype, data);
      }
      Eqe.free(ring, at);
      index++;
      count++;
      reader.event(type, subtype, data);
    }
    return count;
  }

  /** Requests an interrupt at the next entry after those that were read. */
  void arm(UarPage uar) {
    uar.armEventQueue(Doorbell.armEventQueue(number, index));
  }

  /** Takes the queue back from the card. */
  @Override
  public void close() {
    card.deferredFree()
        .retire(
            "EQ 0x%x".formatted(number),
            () -> card.commands().hw2swEq(number),
            memory::close,
            icm::close);
  }
}

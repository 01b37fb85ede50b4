package org.hghca.conformance.hostile;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.hghca.abi.Bar;
import org.hghca.abi.Eqe;
import org.hghca.abi.EventQueueContext;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.MapIcm;
import org.hghca.abi.WriteMtt;

/**
 * Learns from the commands where the event queues are, and then writes entries that the device
 * never generated. One thread at a time may forge.
 */
class EventForger implements Sabotage {
  private static final int PAGE = MapIcm.PAGE_SIZE;
  private static final long HCR = HardwareProfile.S.hcrBase();

  /** An event queue in host memory: address, number of entries, vector, and next position. */
  private static final class Ring {
    private final long[] pages;
    private final int entries;
    private final int vector;
    private int next;

    Ring(long[] pages, int entries, int vector) {
      this.pages = pages;
      this.entries = entries;
      this.vector = vector;
    }

    long place(int at) {
      long offset = (long) (at & entries - 1) * Eqe.SIZE;
      return pages[(int) (offset / PAGE)] + offset % PAGE;
    }
  }

  private final String name;
  private final List<Ring> rings = new ArrayList<>();
  private final List<Long> pages = new ArrayList<>();
  private long in;
  private int modifier;

  EventForger(String name) {
    this.name = name;
  }

  private Saboteur device() {
    return HostileProvider.device(name);
  }

  /** The number of event queues; the first is for asynchronous events. */
  int rings() {
    return rings.size();
  }

  @Override
  public boolean write(int bar, long offset, int width, long value) {
    long at = offset - HCR;
    if (bar != Bar.BAR0 || at < 0 || at >= Hcr.SIZE) {
      return true;
    }
    switch ((int) at) {
      case Hcr.IN_PARAM_HIGH -> in = value << 32;
      case Hcr.IN_PARAM_LOW -> in |= value & 0xffff_ffffL;
      case Hcr.IN_MODIFIER -> modifier = (int) value;
      case Hcr.COMMAND -> command(Hcr.op((int) value));
      default -> {
        // not needed
      }
    }
    return true;
  }

  /** The memory of an event queue is registered right before the queue is handed over. */
  private void command(int op) {
    if (op == HcrCommand.WRITE_MTT.code()) {
      MemorySegment inbox = device().read(in, WriteMtt.size(modifier));
      for (int i = 0; i < modifier; i++) {
        pages.add(WriteMtt.page(inbox, i));
      }
    } else if (op == HcrCommand.SW2HW_EQ.code()) {
      MemorySegment inbox = device().read(in, EventQueueContext.LAYOUT.size());
      int entries = 1 << EventQueueContext.LOG_SIZE.get(inbox);
      int from = pages.size() - (entries * Eqe.SIZE + PAGE - 1) / PAGE;
      long[] memory = pages.stream().skip(from).mapToLong(page -> page & -PAGE).toArray();
      rings.add(new Ring(memory, entries, EventQueueContext.INTERRUPT.get(inbox)));
    }
  }

  /** Whether an address is in an event queue's entries. */
  boolean isEvent(long iova) {
    return rings.stream()
        .flatMapToLong(ring -> Arrays.stream(ring.pages))
        .anyMatch(page -> page == (iova & -PAGE));
  }

  /** Counts the device's own writes; a forger continues behind them. */
  @Override
  public boolean dmaWrite(long iova, MemorySegment bytes) {
    for (Ring ring : rings) {
      if (bytes.byteSize() == Eqe.SIZE && ring.place(ring.next) == iova) {
        ring.next++;
      }
    }
    return true;
  }

  /**
   * Writes an entry behind the last one.
   *
   * @return false when the queue is full, so that nothing was written
   */
  boolean forge(int ring, int type, int subtype, int data) {
    return forge(ring, type, subtype, data, Eqe.OWNER_SOFTWARE);
  }

  /** As {@link #forge(int, int, int, int)}, with any owner byte. */
  boolean forge(int which, int type, int subtype, int data, int owner) {
    Ring ring = rings.get(which);
    long at = ring.place(ring.next);
    if (Eqe.owner(device().read(at, Eqe.SIZE), 0) != Eqe.OWNER_HARDWARE) {
      return false;
    }
    ring.next++;
    byte[] entry = new byte[Eqe.SIZE];
    MemorySegment bytes = MemorySegment.ofArray(entry);
    bytes.set(ValueLayout.JAVA_BYTE, Eqe.TYPE_OFFSET, (byte) type);
    bytes.set(ValueLayout.JAVA_BYTE, Eqe.SUBTYPE_OFFSET, (byte) subtype);
    for (int i = 0; i < Integer.BYTES; i++) {
      bytes.set(ValueLayout.JAVA_BYTE, Eqe.DATA_OFFSET + i, (byte) (data >>> 24 - 8 * i));
    }
    byte[] last = {0, 0, 0, (byte) owner};
    device().write(at, Arrays.copyOf(entry, Eqe.SIZE - last.length));
    device().write(at + Eqe.SIZE - last.length, last);
    return true;
  }

  /** Raises the interrupt of an event queue. */
  void interrupt(int ring) {
    device().raise(rings.get(ring).vector);
  }

  /** Overwrites some bytes of an event queue's memory. */
  void scribble(SplittableRandom random) {
    Ring ring = rings.get(random.nextInt(rings.size()));
    // Mostly at the next entries.
    int ahead = random.nextInt(random.nextInt(4) == 0 ? ring.entries : 8);
    byte[] bytes = new byte[1 + random.nextInt(Eqe.SIZE)];
    random.nextBytes(bytes);
    long at = ring.place(ring.next + ahead) + random.nextInt(Eqe.SIZE);
    long page = at & -PAGE;
    device().write(Math.min(at, page + PAGE - bytes.length), bytes);
  }
}

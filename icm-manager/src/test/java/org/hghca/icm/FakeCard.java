package org.hghca.icm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.LongUnaryOperator;
import java.util.function.Predicate;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.MmioHandler;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.testing.StubFunction;
import org.hghca.vfio.testing.StubMapping;

/**
 * A function whose HCR completes every command at once and that records the entries of MAP_ICM and
 * UNMAP_ICM, read from the mailboxes byte by byte. Each test chooses the addresses of its DMA
 * pages.
 */
final class FakeCard extends StubFunction implements MmioHandler {
  private static final ValueLayout.OfLong BIG_ENDIAN =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN);

  /** One entry of a MAP_ICM mailbox. */
  record Entry(long virtual, long page, int pages) {}

  /** A MAP_ICM or UNMAP_ICM command; an unmapping has one entry without a page. */
  record IcmCommand(boolean unmap, int opModifier, List<Entry> entries) {
    int pages() {
      return entries.stream().mapToInt(Entry::pages).sum();
    }
  }

  final List<IcmCommand> commands = new ArrayList<>();

  /** The card's view: I/O address of each mapped page by its HCA-virtual address, by table kind. */
  final List<NavigableMap<Long, Long>> mapped =
      List.of(new TreeMap<>(), new TreeMap<>(), new TreeMap<>());

  /** Selects the commands that are answered with BAD_PARAM. */
  Predicate<IcmCommand> refuse = command -> false;

  /** Selects the commands that never end. */
  Predicate<IcmCommand> hang = command -> false;

  /** Runs while a command is in progress. */
  Runnable onCommand = () -> {};

  private final Arena arena = Arena.ofShared();
  private final NavigableMap<Long, MemorySegment> memory = new TreeMap<>();
  private final long hcrBase;
  private final LongUnaryOperator place;
  private final int[] dwords = new int[7];
  private long nextPage = 0x10_0000;

  /**
   * A card.
   *
   * @param place the I/O address of the n-th allocated page, as a function of its address if all
   *     pages were contiguous
   */
  FakeCard(long hcrBase, LongUnaryOperator place) {
    this.hcrBase = hcrBase;
    this.place = place;
  }

  /** The number of DMA pages of 4 KiB that exist. */
  synchronized int pages() {
    return memory.size();
  }

  /** Whether there is a page of DMA memory at an I/O address. */
  synchronized boolean isMemory(long iova) {
    return memory.containsKey(iova);
  }

  @Override
  public synchronized long read(long offset, int width) {
    return dwords[(int) (offset - hcrBase) / 4] & 0xffff_ffffL;
  }

  @Override
  public synchronized void write(long offset, int width, long value) {
    int index = (int) (offset - hcrBase) / 4;
    dwords[index] = (int) value;
    if (index == 6 && (value & 1 << 23) != 0) {
      command((int) value & 0xfff, (int) value >>> 12 & 0xff);
    }
  }

  private void command(int opcode, int opModifier) {
    long in = (long) dwords[0] << 32 | dwords[1] & 0xffff_ffffL;
    int status = 0;
    if (opcode == 0xffa || opcode == 0xff9) {
      IcmCommand command =
          opcode == 0xff9
              ? new IcmCommand(true, opModifier, List.of(new Entry(in, 0, dwords[2])))
              : new IcmCommand(false, opModifier, entries(in, dwords[2]));
      commands.add(command);
      onCommand.run();
      if (hang.test(command)) {
        return;
      }
      if (refuse.test(command)) {
        status = 3;
      } else {
        apply(command);
      }
    }
    dwords[3] = 0;
    dwords[4] = 0;
    dwords[6] = dwords[6] & 0x007f_ffff | status << 24;
  }

  private List<Entry> entries(long mailbox, int count) {
    List<Entry> entries = new ArrayList<>();
    MemorySegment inbox = memory.get(mailbox);
    for (int i = 0; i < count; i++) {
      int at = i / 2 * 32 + (i % 2 == 0 ? 16 : 0);
      long page = inbox.get(BIG_ENDIAN, at + 8);
      entries.add(new Entry(inbox.get(BIG_ENDIAN, at), page & ~0xfffL, (int) (page & 0xfff)));
    }
    return entries;
  }

  private void apply(IcmCommand command) {
    NavigableMap<Long, Long> pages = mapped.get(command.opModifier());
    for (Entry entry : command.entries()) {
      for (long i = 0; i < entry.pages(); i++) {
        long virtual = entry.virtual() + i * 4096;
        if (command.unmap()) {
          pages.remove(virtual);
        } else {
          pages.put(virtual, entry.page() + i * 4096);
        }
      }
    }
  }

  @Override
  public MmioRegion region(int bar) {
    return MmioRegion.trapped(1 << 20, this);
  }

  @Override
  public synchronized DmaMapping allocate(long bytes) {
    int pages = (int) ((bytes + 4095) / 4096);
    MemorySegment segment = arena.allocate(pages * 4096L, 4096);
    long[] iovas = new long[pages];
    for (int i = 0; i < pages; i++) {
      iovas[i] = place.applyAsLong(nextPage);
      nextPage += 4096;
      memory.put(iovas[i], segment.asSlice(i * 4096L, 4096));
    }
    return new StubMapping(
        segment, offset -> iovas[(int) (offset / 4096)] + offset % 4096, () -> release(iovas));
  }

  private synchronized void release(long[] iovas) {
    for (long iova : iovas) {
      memory.remove(iova);
    }
  }

  @Override
  public void close() {
    arena.close();
  }
}

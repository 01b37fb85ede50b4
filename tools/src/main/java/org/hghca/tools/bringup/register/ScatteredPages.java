package org.hghca.tools.bringup.register;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.hghca.abi.MapIcm;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.raw.RawRegion;
import org.hghca.tools.raw.RawTables;
import org.hghca.vfio.DmaMapping;

/**
 * A region whose pages do not follow one another for the card, and which changes its pages twice:
 * its MTT entries are overwritten, then its MPT entry gets other ones. Each time an RDMA WRITE goes
 * to each page, so that a translation that the card has kept sends a message to an old page.
 */
final class ScatteredPages {
  private static final int PIECE = 96;
  private static final long START = 0x40_0000;
  private static final int PAGE = MapIcm.PAGE_SIZE;

  /**
   * Which page of the memory a page of the region is, each time: none is followed by the next one,
   * and none is where it was before.
   */
  private static final int[][] ORDERS = {
    {0, 2, 1, 4, 3, 6, 5, 7}, {3, 7, 4, 0, 6, 2, 1, 5}, {5, 1, 7, 2, 0, 4, 3, 6}
  };

  private static final int COUNT = ORDERS[0].length;

  private final RawLoop loop;
  private final RawTables tables;
  private final DmaMapping memory;

  ScatteredPages(RawLoop loop, RawTables tables) {
    this.loop = loop;
    this.tables = tables;
    this.memory = tables.allocate((long) COUNT * PAGE);
  }

  void run(Observation o) {
    RawRegion first =
        tables.register(memory, RawQueuePair.PD, RawLoop.ACCESS, START, page -> ORDERS[0][page]);
    write(o, first, 0, "");
    RawRegion overwritten = tables.overwrite(first, page -> ORDERS[1][page]);
    write(o, overwritten, 1, "after its MTT entries were overwritten, ");
    RawRegion moved = tables.move(overwritten, page -> ORDERS[2][page]);
    write(o, moved, 2, "after its MPT entry got other MTT entries, ");
  }

  /** Writes to each page, and compares all memory. */
  private void write(Observation o, RawRegion region, int time, String change) {
    memory.segment().fill((byte) 0);
    byte[] expected = new byte[COUNT * PAGE];
    for (int page = 0; page < COUNT; page++) {
      int inPage = (page + 1) * PIECE;
      byte[] message = RawLoop.random(loop.source().segment(), time * COUNT + page, PIECE);
      System.arraycopy(message, 0, expected, ORDERS[time][page] * PAGE + inPage, PIECE);
      loop.write(
          o,
          "%sthe WRITE to page %d".formatted(change, page),
          PIECE,
          region,
          region.start() + (long) page * PAGE + inPage);
      o.check(
          time == 0 || !isIn(ORDERS[time - 1][page], inPage, message),
          "%sthe message to page %d is where that page was before".formatted(change, page));
      int instead = foundIn(ORDERS[time], inPage, message).orElse(page);
      o.check(
          instead == page,
          "region of %d pages: the message to page %d is in page %d"
              .formatted(COUNT, page, instead));
    }
    o.compareNow(
        "what was written", expected, () -> memory.segment().toArray(ValueLayout.JAVA_BYTE));
    o.saw(
        "%sthe pages of the region are those of its memory in the order %s"
            .formatted(change, Arrays.toString(ORDERS[time])));
  }

  /** The page of the region that holds a message; empty when none does. */
  private OptionalInt foundIn(int[] order, int inPage, byte[] message) {
    return IntStream.range(0, COUNT).filter(page -> isIn(order[page], inPage, message)).findFirst();
  }

  /** Whether a page of the memory holds a message. */
  private boolean isIn(int page, int inPage, byte[] message) {
    return memory
            .segment()
            .asSlice((long) page * PAGE + inPage, PIECE)
            .mismatch(MemorySegment.ofArray(message))
        < 0;
  }
}

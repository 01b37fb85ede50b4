package org.hghca.tools.bringup.data;

import java.time.Duration;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.hghca.tools.bringup.board.Driver;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.verbs.Pair;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcOpcode;

/**
 * Regions of more than a thousand pages to one: a message from and to each page, then all memory is
 * compared. An entry of the translation tables that stands for another page shows. The largest
 * region and the pages at which a bit of the index changes come first: where time runs out, no bit
 * is left untested.
 */
final class Pages {
  private static final int PAGE = 4096;
  private static final int LENGTH = 64;
  private static final int[] SIZES = {1040, 513, 512, 64, 3, 2, 1};
  private static final int LEAST = 66;

  private final Driver driver;

  Pages(Driver driver) {
    this.driver = driver;
  }

  void run(Observation o, Duration time) {
    int pages = Arrays.stream(SIZES).sum();
    o.expect(
        "regions of 1 to %,d pages: a WRITE from each page to the same page of another region; then"
                .formatted(SIZES[0])
            + " all bytes of all pages as they should be");
    Quota quota = new Quota(time, pages, LEAST);
    try (Pair pair = Pair.withDepth(driver, PAGE, MessageStream.DEPTH).connect()) {
      Window window = new Window(driver, pair, MessageStream.DEPTH);
      for (int size : SIZES) {
        if (quota.hasNext()) {
          region(o, pair, window, size, quota);
        }
      }
    }
    quota.close(o, "pages");
  }

  private void region(Observation o, Pair pair, Window window, int pages, Quota quota) {
    long bytes = (long) pages * PAGE;
    MemoryRegion from = pair.left().domain().allocate(bytes, Pair.access(pair.left().context()));
    try {
      MemoryRegion to = pair.right().domain().allocate(bytes, Pair.access(pair.right().context()));
      try {
        fill(o, window, from, to, pages, quota);
      } finally {
        pair.release(to);
      }
    } finally {
      pair.release(from);
    }
  }

  private static void fill(
      Observation o, Window window, MemoryRegion from, MemoryRegion to, int pages, Quota quota) {
    try {
      to.segment().fill(Payload.BLANK);
      byte[] expected = new byte[pages * PAGE];
      Arrays.fill(expected, Payload.BLANK);
      int[] order = order(pages);
      int done = 0;
      for (; done < pages && quota.hasNext(); done++) {
        int page = order[done];
        window.makeRoom(o, WcOpcode.RDMA_WRITE);
        int at = place(page);
        byte[] message = Payload.of(pages, at, LENGTH);
        Payload.put(message, from.segment(), at);
        System.arraycopy(message, 0, expected, at, LENGTH);
        window.post(
            new SendRequest(1).rdmaWrite(to.address() + at, to.rkey()).sge(from, at, LENGTH));
        quota.did();
      }
      window.takeAll(o, WcOpcode.RDMA_WRITE);
      byte[] seen = Payload.get(to.segment(), 0, expected.length);
      for (int page : Arrays.copyOf(order, done)) {
        int instead = foundIn(seen, page, pages);
        o.check(
            instead == page,
            "region of %,d pages: the message to page %,d is in page %,d"
                .formatted(pages, page, instead));
      }
      o.compareNow(
          "%,d messages to a region of %,d pages".formatted(done, pages),
          expected,
          () -> Payload.get(to.segment(), 0, expected.length));
    } finally {
      window.drain();
    }
  }

  /** All pages: first those at which a bit of the index changes, the highest bit first. */
  static int[] order(int pages) {
    IntStream ends =
        IntStream.iterate(Integer.highestOneBit(pages), bit -> bit > 0, bit -> bit / 2)
            .flatMap(bit -> IntStream.of(bit, bit - 1));
    return IntStream.concat(ends, IntStream.range(0, pages))
        .filter(page -> page < pages)
        .distinct()
        .toArray();
  }

  /** Where the message to a page is. */
  private static int place(int page) {
    return page * PAGE + page * LENGTH % PAGE;
  }

  /** The page that holds the message to a page; that page itself when none does. */
  private static int foundIn(byte[] seen, int page, int pages) {
    byte[] message = Payload.of(pages, place(page), LENGTH);
    int offset = place(page) % PAGE;
    for (int i = 0; i < pages; i++) {
      int other = (page + i) % pages;
      int at = other * PAGE + offset;
      if (Arrays.equals(seen, at, at + LENGTH, message, 0, LENGTH)) {
        return other;
      }
    }
    return page;
  }
}

package org.hghca.tools.bringup.data;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.hghca.tools.bringup.board.Driver;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.verbs.Pair;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcOpcode;

/**
 * Many regions, each with a key of its own, and regions that take the place of deregistered ones: a
 * message to each, then all memory is compared, also that which is registered no more.
 */
final class Regions {
  private static final int PAGE = 4096;
  private static final int COUNT = 48;
  private static final int LENGTH = 96;
  private static final int ROUNDS = 3;

  private final Driver driver;

  Regions(Driver driver) {
    this.driver = driver;
  }

  void run(Observation o, Duration time) {
    o.expect(
        "%d regions at a time, three times, each two pages, half of them new in each round: a WRITE"
                .formatted(COUNT)
            + " to each, and no byte elsewhere changed");
    Quota quota = new Quota(time, ROUNDS, 2);
    int all = COUNT + (ROUNDS - 1) * COUNT / 2;
    try (Pair pair = Pair.withDepth(driver, PAGE, MessageStream.DEPTH).connect()) {
      MemorySegment memory = Arena.ofAuto().allocate(2L * PAGE * all, PAGE).fill(Payload.BLANK);
      byte[] expected = new byte[(int) memory.byteSize()];
      Arrays.fill(expected, Payload.BLANK);
      Window window = new Window(driver, pair, MessageStream.DEPTH);
      List<MemoryRegion> regions = new ArrayList<>();
      try {
        int next = 0;
        for (int round = 0; round < ROUNDS && quota.hasNext(); round++) {
          // The older half leaves; what is registered now may get its places in the tables.
          while (regions.size() > COUNT / 2) {
            regions.removeFirst().close();
          }
          while (regions.size() < COUNT) {
            regions.add(
                pair.right()
                    .domain()
                    .register(
                        memory.asSlice(2L * PAGE * next++, 2L * PAGE),
                        Pair.access(pair.right().context())));
          }
          for (MemoryRegion region : regions) {
            write(o, pair, window, memory, region, expected);
          }
          window.takeAll(o, WcOpcode.RDMA_WRITE);
          quota.did();
          o.compareNow(
              "round %d, %d regions".formatted(round, COUNT),
              expected,
              () -> Payload.get(memory, 0, memory.byteSize()));
        }
      } finally {
        try {
          window.drain();
        } finally {
          regions.reversed().forEach(pair::release);
        }
      }
    }
    quota.close(o, "rounds");
  }

  private static void write(
      Observation o,
      Pair pair,
      Window window,
      MemorySegment memory,
      MemoryRegion region,
      byte[] expected) {
    window.makeRoom(o, WcOpcode.RDMA_WRITE);
    int number = (int) (window.next() % MessageStream.DEPTH);
    int at = PAGE - LENGTH / 3; // across both pages
    int from = number * LENGTH;
    int place = (int) (region.segment().address() - memory.address()) + at;
    byte[] message = Payload.of(window.next(), place, LENGTH);
    Payload.put(message, pair.left().memory().segment(), from);
    System.arraycopy(message, 0, expected, place, LENGTH);
    window.post(
        new SendRequest(1)
            .rdmaWrite(region.address() + at, region.rkey())
            .sge(pair.left().memory(), from, LENGTH));
  }
}

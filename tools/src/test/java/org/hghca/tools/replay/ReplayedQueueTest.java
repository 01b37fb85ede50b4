package org.hghca.tools.replay;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.hghca.abi.Cqe;
import org.hghca.tools.replay.ReplayedMemory.Place;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ReplayedQueueTest {
  private static final long RECORDED = 0x40_0000;
  private static final int SLOTS = 4;

  private final PciFunction function = PciFunctions.open(Locator.parse("model:queue"));
  private final ReplayedMemory memory = new ReplayedMemory();
  private ReplayedQueue queue;

  @BeforeEach
  void createQueue() {
    memory.map(
        line(
            Map.of(
                "map",
                1,
                "bytes",
                4096,
                "allocated",
                1,
                "access",
                "READ_WRITE",
                "iova",
                "0x400000+4096")),
        function);
    List<Place> slots = new ArrayList<>();
    for (int slot = 0; slot < SLOTS; slot++) {
      memory.changed(change(slot, "ff".repeat(Cqe.SIZE)));
      slots.add(memory.at(RECORDED + (long) slot * Cqe.SIZE).orElseThrow());
    }
    queue = new ReplayedQueue(5, slots);
  }

  @AfterEach
  void closeFunction() {
    memory.clear();
    function.close();
  }

  private static TraceLine line(Map<String, Object> values) {
    return TraceLine.of(1, values);
  }

  private static TraceLine change(int slot, String hex) {
    return line(Map.of("map", 1, "offset", slot * Cqe.SIZE, "bytes", hex));
  }

  private void recorded(int slot, int qpn) {
    memory.changed(change(slot, "%02x".formatted(qpn) + "00".repeat(Cqe.SIZE - 1)));
  }

  private void freed(int slot) {
    memory.changed(
        line(
            Map.of(
                "map", 1, "offset", slot * Cqe.SIZE + Cqe.LAST_DWORD_OFFSET, "bytes", "ffffffff")));
  }

  private MemorySegment here() {
    return memory.at(RECORDED).orElseThrow().mapping().memory();
  }

  private List<Integer> expected() {
    queue.look();
    List<Integer> qpns = new ArrayList<>();
    while (queue.expects()) {
      qpns.add((int) queue.recorded()[0]);
      queue.next();
    }
    return qpns;
  }

  @Test
  void entriesAreExpectedInTheOrderOfTheRing() {
    recorded(1, 8);
    assertThat(expected()).isEmpty();
    recorded(0, 7);
    assertThat(expected()).containsExactly(7, 8);
    assertThat(queue.name()).isEqualTo("CQE 2 of CQ 0x5");
  }

  @Test
  void entryOfTheRoundBeforeIsNotExpectedAgain() {
    for (int slot = 0; slot < SLOTS; slot++) {
      recorded(slot, slot);
    }
    assertThat(expected()).containsExactly(0, 1, 2, 3);
    assertThat(expected()).isEmpty();
    queue.take();
    freed(0);
    assertThat(expected()).isEmpty();
    recorded(0, 0);
    assertThat(expected()).containsExactly(0);
  }

  @Test
  void equalEntryIsExpectedOnceItWasTaken() {
    for (int round = 0; round < 3 * SLOTS; round++) {
      recorded(round % SLOTS, 1); // consumed and written again before anybody looked
      queue.take();
      assertThat(expected()).as("round " + round).containsExactly(1);
    }
  }

  @Test
  void entryThatTheProgramHasMovedIsExpectedOnce() {
    recorded(0, 7);
    recorded(1, 8);
    queue.look();
    queue.take();
    recorded(1, 7); // 8 was removed: 7 is moved up to its place
    freed(0);
    queue.take();

    assertThat(expected()).containsExactly(7, 8);
  }

  @Test
  void whatTheRecordedCardWroteIsNotGivenToThisCard() {
    assertThat(queue.hasNext()).isFalse();
    recorded(0, 7);
    assertThat(queue.hasNext()).isFalse();
    Cqe.encodeSuccess(here(), 0, 9, 0, 0, 0, 0, 0, true, 10, 0);
    assertThat(queue.hasNext()).isTrue();
    assertThat(queue.here()[0]).isEqualTo((byte) 9);
    queue.look();
    queue.next();
    assertThat(Cqe.owner(here(), 0)).isEqualTo(Cqe.SENTINEL);

    queue.close();
    assertThat(Cqe.qpn(here(), 0)).isEqualTo(7);
    assertThat(Cqe.owner(here(), 0)).isZero();
  }
}

package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import org.hghca.abi.Cqe;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.ResizeCq;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Completion queues that share a region, at offsets of their own, also across its pages. */
class CompletionRingOffsetTest {
  private static final int LOG_SIZE = 3;
  private static final int BYTES = Cqe.SIZE << LOG_SIZE;
  private static final int PAGE = 4096;

  private final FaultyHost card = new FaultyHost("profile=s");

  @AfterEach
  void close() {
    card.close();
  }

  private static void assertUntouched(MemorySegment memory) {
    MemorySegment empty = MemorySegment.ofArray(new byte[(int) memory.byteSize()]);
    Cqe.fill(empty, 0, memory.byteSize() / Cqe.SIZE);
    assertThat(memory.mismatch(empty)).isEqualTo(-1);
  }

  /** More entries than the ring has: it turns at its own end. */
  @ParameterizedTest
  @ValueSource(ints = {0, 32, BYTES, PAGE, PAGE - 64, 2 * PAGE + 96})
  void entriesAreWrittenFromTheStartOn(int start) {
    card.host.bringUp();
    Host.Buffer region = card.host.buffer(4 * PAGE, Host.LOCAL);
    Cqe.fill(region.memory(), 0, 4 * PAGE / Cqe.SIZE);
    Host.Cq cq = card.host.cq(region.memory(), region.key(), start, LOG_SIZE, 0, 0);
    card.connect(cq);

    for (int i = 0; i < 3 << LOG_SIZE; i++) {
      card.write(0, 8);
      card.simulation.run();
      Host.Completion completion = cq.take();
      assertThat(completion.failed()).isFalse();
      assertThat(completion.qpn()).isEqualTo(card.qp.number);
      assertThat(completion.wqe()).isEqualTo(i * Host.STRIDE % Host.QUEUE_BYTES);
    }

    assertUntouched(region.memory());
    assertThat(card.host.hca().faults()).isEmpty();
  }

  /** RESIZE_CQ has no field for an offset. */
  @ParameterizedTest
  @ValueSource(ints = {0, PAGE})
  void resizedQueueGoesOnAtTheBeginningOfItsNewRegion(int start) {
    card.host.bringUp();
    Host.Buffer region = card.host.buffer(2 * PAGE, Host.LOCAL);
    Host.Buffer larger = card.host.buffer(2 * PAGE, Host.LOCAL);
    Cqe.fill(larger.memory(), 0, 2 * PAGE / Cqe.SIZE);
    Host.Cq cq = card.host.cq(region.memory(), region.key(), start, LOG_SIZE, 0, 0);
    card.connect(cq);
    new ResizeCq(LOG_SIZE + 1, larger.key()).encode(card.host.in());
    card.host.must(HcrCommand.RESIZE_CQ, 0, cq.number);

    card.write(0, 8);
    card.simulation.run();

    assertThat(cq.hasNext()).isFalse();
    assertThat(Cqe.owner(larger.memory(), 0)).isNotEqualTo(Cqe.SENTINEL);
    assertUntouched(larger.memory().asSlice(Cqe.SIZE));
  }
}

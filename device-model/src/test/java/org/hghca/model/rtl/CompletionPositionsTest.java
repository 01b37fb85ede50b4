package org.hghca.model.rtl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.model.rtl.TestPair.QPN;
import static org.hghca.model.rtl.TestPair.data;

import java.lang.foreign.ValueLayout;
import org.hghca.abi.Cqe;
import org.hghca.abi.QpcServiceType;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The position of CQEs: continuously around the ring, from the last position of the number's
 * previous ring.
 */
class CompletionPositionsTest {
  private static final int WRITE = 0x08;

  private final TestPair pair = new TestPair(QpcServiceType.RC);
  private OnChipCq queue;

  @BeforeEach
  void findQueue() {
    queue = pair.a.completionQueue(QPN);
  }

  private void write(int count) {
    for (int i = 0; i < count; i++) {
      pair.a.post(QPN, WRITE, data(0x8000, 8), data(0, 8));
      pair.run();
    }
  }

  private boolean isWritten(int slot) {
    return pair.a.entry(QPN, (long) slot * Cqe.SIZE).get(ValueLayout.JAVA_BYTE, Cqe.OWNER_OFFSET)
        == 0;
  }

  private void clear() {
    pair.a.entry(QPN, 0, 4096).fill((byte) 0xff);
  }

  @Test
  void sixCompletionsInARingOfFourOverwriteTwo() {
    queue.logSize = 2;
    write(6);

    assertThat(pair.a.cqes(QPN)).hasSize(4);
    assertThat(pair.a.cqes(QPN).get(1).substring(48, 52)).isEqualTo("4001"); // the sixth WQE
    assertThat(isWritten(4)).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"3,4,3", "5,4,5", "5,3,5", "20,4,4"})
  void ringOfTheSameNumberContinuesWhereTheLastOneEnded(int before, int logSize, int slot) {
    write(before);
    queue.owned = false;
    clear();
    queue.logSize = logSize;
    queue.owned = true;
    write(1);

    assertThat(isWritten(slot)).isTrue();
    assertThat(isWritten(0)).isFalse();
  }

  /** Past the end of its region a CQE is lost, and the next ones are elsewhere. */
  @Test
  void ringThatEndsBeforeThatPositionLosesTheFirstCqe() {
    write(5);
    clear();
    queue.logSize = 1;
    pair.a.shrink(queue.key, 2 * Cqe.SIZE);
    write(1);
    assertThat(isWritten(0) || isWritten(1)).isFalse();
    assertThat(pair.a.hazards.list()).singleElement().asString().startsWith("5.2");

    write(1);
    assertThat(isWritten(0)).isTrue();
  }

  @Test
  void ringOfAnotherProtectionDomainGetsNothing() {
    queue.pd = 9;
    write(1);

    assertThat(isWritten(0)).isFalse();
    assertThat(pair.a.hazards.list()).singleElement().asString().startsWith("5.2");
  }

  @Test
  void readOnlyRingGetsNothing() {
    pair.a.register(queue.key, 6);
    write(1);

    assertThat(pair.a.hazards.list()).singleElement().asString().startsWith("5.2");
  }

  @Test
  void returnedRingGetsNothing() {
    queue.owned = false;
    write(1);

    assertThat(isWritten(0)).isFalse();
  }
}

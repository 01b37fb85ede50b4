package org.hghca.model.virtio;

import static org.assertj.core.api.Assertions.assertThat;

import org.hghca.model.virtio.GuestDriver.Used;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Commands and resets that hit objects whose requests are outstanding; events of completions. */
class RoceLiveObjectsTest extends RoceConnectionFixture {
  private static final int SOLICITED = 4;
  private static final int SQD = 4;
  private static final int QUEUE_RESET = 58;

  private long interrupts() {
    return driver.function.interrupts().await(0);
  }

  private void arm(int flags) {
    assertThat(does(17, le(0, flags))).isTrue();
    interrupts(); // that of the control queue
  }

  private String draining() {
    return command(11, le(qp, 1), 121).substring(6, 8);
  }

  /** A region of one page; returns the answer to its command. */
  private String region() {
    return command(7, register(0, 7, 0, 4096, sends.memory.iova(0)), 13);
  }

  // ---- events

  @Test
  void anEventOfSolicitedCompletionsWaitsForOne() {
    connectToItself();
    buffersForCompletions(8);
    postReceive(1);
    postReceive(2);
    arm(1);
    post(request(3, SEND, SIGNALED, 0));
    assertThat(completed()).containsExactlyInAnyOrder("01:00:3", "03:00:0");
    assertThat(interrupts()).isZero();

    post(request(4, SEND, SIGNALED | SOLICITED, 0));
    assertThat(completed()).containsExactlyInAnyOrder("02:00:3", "04:00:0");
    assertThat(interrupts()).isEqualTo(1L << completions.index + 1);
  }

  @Test
  void anErrorIsSolicited() {
    buffersForCompletions(8);
    arm(1);
    post(request(1, 5, 0, 0));
    assertThat(interrupts()).isEqualTo(1L << completions.index + 1);
  }

  @Test
  void anEventComesOnce() {
    connectToItself();
    buffersForCompletions(8);
    postReceive(1);
    postReceive(2);
    arm(2);
    post(request(3, SEND, SIGNALED, 0));
    assertThat(interrupts()).isEqualTo(1L << completions.index + 1);
    post(request(4, SEND, SIGNALED, 0));
    assertThat(completed()).hasSize(4);
    assertThat(interrupts()).isZero();
  }

  @Test
  void theCardSaysUpToWhereItNeedsNoKick() {
    connectToItself();
    buffersForCompletions(8);
    for (int i = 0; i < 3; i++) {
      postReceive(i);
      post(request(8 + i, SEND, SIGNALED, 0));
      assertThat(sends.availableEvent()).isEqualTo(i + 1);
    }
  }

  // ---- draining

  @Test
  void aQueuePairDrainsAsLongAsRequestsAreOutstanding() {
    buffersForCompletions(8);
    post(request(1, SEND, SIGNALED, 0)); // nobody answers
    assertThat(does(10, modify(qp, 1, SQD, 3, 1))).isTrue();
    assertThat(state()).isEqualTo("04");
    assertThat(draining()).isEqualTo("01");
    post(request(2, SEND, SIGNALED, 0));
    assertThat(sends.used()).isEmpty();

    assertThat(does(10, modify(qp, 1, 6, 3, 1))).isTrue();
    assertThat(draining()).isEqualTo("00");
    assertThat(completed()).containsExactly("01:04:0", "02:04:0");
  }

  @Test
  void anIdleQueuePairIsDrainedAndStartsAgain() {
    connectToItself();
    buffersForCompletions(8);
    postReceive(1);
    assertThat(does(10, modify(qp, 1, SQD, 3, 1))).isTrue();
    assertThat(draining()).isEqualTo("00");
    post(request(2, SEND, SIGNALED, 0));
    assertThat(completed()).isEmpty();

    assertThat(does(10, modify(qp, 1, 3, 3, 1))).isTrue();
    assertThat(completed()).containsExactlyInAnyOrder("01:00:3", "02:00:0");
  }

  // ---- objects that go while they are used

  /** The queue of the sends, and of the receives. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void aQueueThatIsResetAloneEndsItsQueuePair(int which) {
    buffersForCompletions(8);
    postReceive(1);
    post(request(2, SEND, SIGNALED, 0));
    driver.registers.writeShort(22, sends.index + which);
    driver.registers.writeShort(QUEUE_RESET, 1);

    assertThat(driver.registers.readShort(QUEUE_RESET)).isZero();
    assertThat(state()).isEqualTo("06");
    assertThat(driver.status()).isEqualTo(15);
    assertThat(does(12, le(qp))).isTrue();
  }

  @Test
  void aQueuePairThatIsDestroyedLeavesNoCompletion() {
    buffersForCompletions(8);
    postReceive(1);
    post(request(2, SEND, SIGNALED, 0));
    assertThat(does(12, le(qp))).isTrue();
    sends.kick();
    receives.kick();

    assertThat(completed()).isEmpty();
    assertThat(driver.status()).isEqualTo(15);
  }

  @Test
  void aRegionThatGoesBeforeItsRequestStartsFailsTheRequest() {
    connectToItself();
    buffersForCompletions(8);
    postReceive(1);
    String region = region();
    assertThat(does(10, modify(qp, 1, SQD, 3, 1))).isTrue();
    post(request(2, SEND, SIGNALED, 1) + le(0, 0, 16) + region.substring(10, 18));
    assertThat(does(8, region.substring(2, 10))).isTrue();

    assertThat(does(10, modify(qp, 1, 3, 3, 1))).isTrue();
    assertThat(completed()).containsExactly("02:03:0", "01:04:3");
    assertThat(receives.used()).containsExactly(new Used(0, 0));
  }
}

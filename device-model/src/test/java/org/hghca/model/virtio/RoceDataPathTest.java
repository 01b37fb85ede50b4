package org.hghca.model.virtio;

import static org.assertj.core.api.Assertions.assertThat;

import org.hghca.model.virtio.GuestDriver.Used;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The queues of a reliable connection by literal bytes: what the card gives back, and when. */
class RoceDataPathTest extends RoceConnectionFixture {
  /** Opcode, flags, pieces, the bytes that are left out at the end, and the status. */
  @ParameterizedTest
  @CsvSource({
    "2, 2, 0, 1, 02", // too short
    "5, 2, 0, 0, 02", // there is no such operation
    "4, 10, 0, 0, 02", // a READ with inline data
    "2, 10, 1, 0, 02", // inline data where the queue pair has none
    "2, 2, 1, 0, 02", // a piece that is not there
    "2, 2, 5, 0, 02", // more pieces than the queue pair takes
    "2, 0, -1, 0, 02"
  })
  void aMalformedRequestFailsAndTheOthersAreFlushed(
      int opcode, int flags, int pieces, int missing, String status) {
    buffersForCompletions(8);
    postReceive(9);
    String element = request(7, opcode, flags, pieces);
    post(element.substring(0, element.length() - 2 * missing));
    post(request(8, SEND, 0, 0));

    assertThat(completed().getFirst()).startsWith("07:" + status);
    assertThat(sends.used()).containsExactly(new Used(0, 0), new Used(1, 0));
    assertThat(receives.used()).containsExactly(new Used(0, 0));
    assertThat(state()).isEqualTo("06");
    assertThat(driver.status()).isEqualTo(15);
  }

  @Test
  void flushIsInOrderSendsFirst() {
    buffersForCompletions(8);
    postReceive(4);
    postReceive(5);
    offer(request(1, SEND, INLINE, 1)); // more inline bytes than the queue pair takes
    offer(request(2, SEND, SIGNALED, 0));
    post(request(3, SEND, 0, 0));

    assertThat(completed()).containsExactly("01:02:0", "02:04:0", "03:04:0", "04:04:3", "05:04:3");
  }

  @Test
  void aPieceOutsideOfAnyRegionFails() {
    buffersForCompletions(4);
    post(request(1, SEND, SIGNALED, 1) + le(0, 0, 16, 0x12345678));

    assertThat(completed()).containsExactly("01:03:0");
  }

  @Test
  void anElementMayLieInSeveralBuffers() {
    buffersForCompletions(4);
    String element = request(1, SEND, SIGNALED, 1) + le(0, 0, 16, 0x12345678);
    int head = sends.buffer(element.substring(0, 20), GuestDriver.NEXT);
    sends.buffer(element.substring(20, 1130), GuestDriver.NEXT);
    sends.buffer(element.substring(1130), 0);
    sends.offer(head);
    sends.kick();

    assertThat(completed()).as("its piece is in no region").containsExactly("01:03:0");
  }

  @Test
  void resetGivesAllRequestsBackWithoutCompletions() {
    buffersForCompletions(8);
    postReceive(1);
    post(request(2, SEND, SIGNALED, 0)); // nobody answers
    post(request(3, SEND, SIGNALED, 0));
    assertThat(sends.used()).isEmpty();

    assertThat(does(10, modify(qp, 1, 0, 3, 1))).isTrue();
    assertThat(sends.used()).containsExactly(new Used(0, 0), new Used(1, 0));
    assertThat(receives.used()).containsExactly(new Used(0, 0));
    assertThat(completed()).isEmpty();
  }

  @Test
  void aCompletionWithoutBufferEndsItsQueuePair() {
    postReceive(1);
    post(request(2, 5, SIGNALED, 0));
    assertThat(sends.used()).containsExactly(new Used(0, 0));
    assertThat(receives.used()).containsExactly(new Used(0, 0));
    assertThat(state()).isEqualTo("06");

    buffersForCompletions(4);
    post(request(3, SEND, SIGNALED, 0));
    assertThat(sends.used()).containsExactly(new Used(1, 0));
    assertThat(completed()).as("of a queue that is dead").isEmpty();
  }
}

package org.hghca.model.virtio;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Faults of virtio network cards, by literal bytes. */
class VirtioFaultsTest {
  private static final int ANSWER = 1 + 128;
  private static final int MAX_QP_WR = 28;
  private static final int MAX_CQE = 44;

  private static GuestDriver open(String fault) {
    return new GuestDriver("virtio:f?mode=inline&fault=" + fault).start(GuestDriver.ALL | 1L << 55);
  }

  /** QUERY_DEVICE, with the byte of the result in a buffer of its own or before the answer. */
  private static byte[] limits(GuestDriver driver, boolean apart) {
    GuestDriver.Ring control = driver.control;
    int first = control.buffer("0600", GuestDriver.NEXT);
    String answer;
    if (apart) {
      int result = control.room(1, GuestDriver.NEXT);
      int data = control.room(ANSWER - 1);
      control.offer(first);
      control.kick();
      answer = control.content(result, 1) + control.content(data, ANSWER - 1);
    } else {
      int all = control.room(ANSWER);
      control.offer(first);
      control.kick();
      answer = control.content(all, ANSWER);
    }
    assertThat(control.used()).hasSize(1);
    return HexFormat.of().parseHex(answer);
  }

  private static int field(byte[] answer, int offset) {
    return MemorySegment.ofArray(answer).get(GuestDriver.INT, 1L + offset);
  }

  @ParameterizedTest
  @CsvSource({
    "no-interrupt, 1024, 4096",
    "impossible-limits, 1024, 0",
    "small-limits, 256, 512",
    "mailbox-stuck-bit, 5120, 4096",
    "mailbox-swapped, 262144, 1048576",
    "short-outbox, 1024, 4096"
  })
  void answerOfQueryDevice(String fault, int requests, int entries) {
    for (boolean apart : new boolean[] {false, true}) {
      try (GuestDriver card = open(fault)) {
        byte[] answer = limits(card, apart);
        assertThat(answer[0]).as("the result").isZero();
        assertThat(field(answer, MAX_QP_WR)).as("apart: %s", apart).isEqualTo(requests);
        assertThat(field(answer, MAX_CQE)).as("apart: %s", apart).isEqualTo(entries);
        assertThat(card.status()).isEqualTo(15);
      }
    }
  }

  @Test
  void notificationIsIgnored() {
    try (GuestDriver card = open("dead-doorbell")) {
      int first = card.control.buffer("0600", GuestDriver.NEXT);
      card.control.room(ANSWER);
      card.control.offer(first);
      card.control.kick();
      assertThat(card.control.used()).isEmpty();
    }
  }

  @Test
  void cardWithoutDmaLeavesCommands() {
    try (GuestDriver card = open("no-bus-master")) {
      card.control.offer(card.control.buffer("0600", 0));
      card.control.kick();
      assertThat(card.control.used()).isEmpty();
    }
  }
}

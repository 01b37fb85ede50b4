package org.hghca.model.virtio;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Register writes while another thread does the steps of the card: none is lost. */
@Tag("long")
class VirtioNotificationTest {
  private static final int ROUNDS = 200_000;
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final int QUEUE_RESET = 58;

  private final GuestDriver driver =
      new GuestDriver("virtio:n?roce=rfc-v2&spin=on").start(GuestDriver.ALL | 1L << 55);

  @AfterEach
  void close() {
    driver.close();
  }

  @Test
  void everyNotificationIsTaken() {
    int queue = RoceLimits.QUEUES.send(0);
    for (int i = 0; i < ROUNDS; i++) {
      long before = driver.card().counters().doorbells();
      driver.notifyQueue(queue);
      await(i, () -> driver.card().counters().doorbells() > before);
    }
  }

  @Test
  void everyResetOfAQueueEnds() {
    for (int i = 0; i < ROUNDS; i++) {
      driver.registers.writeShort(QUEUE_RESET, 1);
      await(i, () -> driver.registers.readShort(QUEUE_RESET) == 0);
    }
  }

  private static void await(int round, BooleanSupplier condition) {
    Instant end = Instant.now().plus(PATIENCE);
    while (!condition.getAsBoolean()) {
      assertThat(Instant.now()).as("round %d", round).isBefore(end);
      Thread.onSpinWait();
    }
  }
}

package org.hghca.conformance.hazards;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.hghca.conformance.hazards.TwoQueuePairs.Done;
import org.hghca.verbs.AsyncEvent;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * With several outstanding requests of a queue pair, the first RTL can lose completions: no thread
 * waits for a lost one, with a time-out or without.
 */
class LostCompletionTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);

  @ParameterizedTest
  @ValueSource(ints = {0, 12})
  @Tag("hazard-12.18")
  void lostCompletionEndsTheDevice(int timeout) throws InterruptedException {
    try (OneCard card = new OneCard("r1", "&race=on&outstanding=2");
        TwoQueuePairs pair = new TwoQueuePairs(card.context, 64)) {
      pair.connect(100, 200, timeout);
      pair.receive(pair.right, 10, 16);
      pair.receive(pair.right, 11, 17);
      card.hca.stallAfter(1);
      pair.send(pair.left, 1, 0, 3000);
      pair.send(pair.left, 2, 1, 64); // while the first is in progress
      card.hca.stallAfter(-1);
      List<Done> done = TwoQueuePairs.await(pair.left.sent, 1);
      assertThat(done).extracting(Done::wrId).containsExactly(1L);

      AsyncEvent event = card.context.asyncEvents().await(LIMIT).orElseThrow();
      assertThat(event.type()).isEqualTo(AsyncEventType.DEVICE_FATAL);
      VerbsException end = failure(pair);
      assertThat(end.errno()).isEqualTo(Errno.EIO);
      assertThat(end)
          .hasMessageContaining("acknowledged")
          .hasMessageContaining("remove outstanding=2 from its locator")
          .hasMessageContaining("opened again");
    }
  }

  private static VerbsException failure(TwoQueuePairs pair) {
    try {
      assertThat(TwoQueuePairs.poll(pair.left.sent, 1)).isEmpty();
    } catch (VerbsException e) {
      return e;
    }
    throw new AssertionError("the device has not failed");
  }
}

package org.hghca.wire.link;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PollingTest {
  private long now = 1_000_000;
  private final Polling calls = new Polling(true, () -> now);
  private final Polling memory = new Polling(false, () -> now);

  private void look(Polling polling, int times) {
    for (int i = 0; i < times; i++) {
      polling.looks();
    }
  }

  @Test
  void nobodyReadsALinkAtFirst() {
    assertThat(calls.isLeft()).isFalse();
    assertThat(memory.isLeft()).isFalse();
  }

  @Test
  void aLookWithASystemCallIsThatOfAThreadThatPolls() {
    calls.looks();
    now += Polling.LEFT - 1;
    assertThat(calls.isLeft()).isTrue();
    now++;
    assertThat(calls.isLeft()).isFalse();
  }

  /** One that waits for events looks, too. */
  @Test
  void fewLooksAtMemoryAreNotThoseOfAThreadThatPolls() {
    look(memory, Polling.LOOKS - 1);
    assertThat(memory.isLeft()).isFalse();
    memory.looks();
    assertThat(memory.isLeft()).isTrue();
  }

  @Test
  void looksAtMemoryBetweenPacketsThatThePollersThreadTakesCountForNothing() {
    for (int i = 0; i < 10; i++) {
      look(memory, Polling.LOOKS - 1);
      memory.overtaken();
    }
    assertThat(memory.isLeft()).isFalse();
  }

  /** A look with a message of 64 KiB to copy takes longer than many without. */
  @Test
  void aThreadThatFindsSomethingKeepsTheLink() {
    look(memory, Polling.LOOKS);
    for (int i = 0; i < 10; i++) {
      now += Polling.LEFT - 1;
      memory.looks();
      memory.finds(now);
      assertThat(memory.isLeft()).isTrue();
    }
    now += Polling.LEFT;
    memory.finds(now);
    assertThat(memory.isLeft()).as("it has stopped to poll").isFalse();
  }

  @Test
  void aThreadThatSaysThatItPollsHasTheLinkUntilItHasStopped() {
    memory.begins();
    assertThat(memory.isLeft()).isTrue();
    now += 10;
    memory.ends();
    assertThat(memory.isLeft()).isFalse();
  }
}

package org.hghca.tools.bringup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.hghca.tools.bringup.step.StepNotJudgedException;
import org.hghca.tools.bringup.step.Waits;
import org.hghca.tools.raw.CardStoppedException;
import org.hghca.vfio.MmioHandler;
import org.hghca.vfio.MmioRegion;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A step that does not end: the card is blamed only for an access that does not return. */
class StepThreadTest {
  private final CountDownLatch released = new CountDownLatch(1);
  private final StepThread thread = new StepThread(Duration.ofMillis(100), new Waits());

  @AfterEach
  void release() {
    released.countDown();
    thread.end(() -> {});
  }

  private void block() {
    try {
      released.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void accessThatDoesNotReturnIsTheCards() {
    MmioRegion region =
        MmioRegion.trapped(
            4096,
            new MmioHandler() {
              @Override
              public long read(long offset, int width) {
                block();
                return 0;
              }

              @Override
              public void write(long offset, int width, long value) {}
            });

    assertThatThrownBy(() -> thread.run(() -> region.readInt(0)))
        .isInstanceOf(CardStoppedException.class)
        .hasMessageContaining("an access to the card does not return");
    assertThat(thread.isLost()).isTrue();
  }

  @Test
  void anotherWaitIsNotTheCards() {
    assertThatThrownBy(() -> thread.run(this::block))
        .isInstanceOf(StepNotJudgedException.class)
        .hasMessageContaining("no access to the card is pending: it is at ")
        .hasMessageContaining("StepThreadTest.block");
    assertThat(thread.isLost()).isTrue();
  }
}

package org.hghca.tools.card;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.hghca.tools.raw.CardStoppedException;
import org.junit.jupiter.api.Test;

class CardThreadTest {
  private static final Duration LONG = Duration.ofSeconds(50);

  @Test
  void accessThatDoesNotReturnIsAStopAndTheLastWorkFollowsIt() throws InterruptedException {
    CardThread thread = new CardThread(Duration.ofMillis(20));
    CountDownLatch release = new CountDownLatch(1);
    CountDownLatch last = new CountDownLatch(1);

    assertThatThrownBy(
            () ->
                thread.run(
                    () -> {
                      while (release.getCount() > 0) {
                        LockSupport.parkNanos(1_000_000);
                      }
                    }))
        .isInstanceOf(CardStoppedException.class)
        .hasMessageContaining("does not return");
    assertThat(thread.isLost()).isTrue();
    thread.end(last::countDown);
    assertThat(last.getCount()).isOne();
    release.countDown();
    assertThat(last.await(30, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void interruptEndsTheWorkAndTheLastWorkIsDone() {
    CardThread thread = new CardThread(LONG);
    Thread.currentThread().interrupt();
    thread.run(
        () -> {
          while (!Thread.currentThread().isInterrupted()) {
            LockSupport.park();
          }
        });

    assertThat(thread.isInterrupted()).isTrue();
    boolean[] done = {false};
    thread.end(() -> done[0] = !Thread.currentThread().isInterrupted());
    assertThat(done).containsExactly(true);
  }

  @Test
  void failureAndFaultAreTheCallers() {
    CardThread thread = new CardThread(LONG);

    assertThatThrownBy(
            () ->
                thread.run(
                    () -> {
                      throw new RequestFailedException("refused");
                    }))
        .isInstanceOf(RequestFailedException.class);
    assertThatThrownBy(
            () ->
                thread.run(
                    () -> {
                      throw new InternalError("a fault");
                    }))
        .isInstanceOf(CardStoppedException.class)
        .hasMessageContaining("a fault");
    thread.end(() -> {});
  }
}

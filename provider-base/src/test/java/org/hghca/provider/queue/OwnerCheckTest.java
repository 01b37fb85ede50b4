package org.hghca.provider.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

class OwnerCheckTest {
  private final OwnerCheck check = new OwnerCheck("the send queue of QP 0x000041");

  @Test
  void secondThreadGetsTheNameOfTheFirst() throws Exception {
    check.begin();
    try (ExecutorService other =
        Executors.newSingleThreadExecutor(Thread.ofPlatform().name("second").factory())) {
      assertThatThrownBy(() -> other.submit(check::begin).get())
          .cause()
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContainingAll(
              "the send queue of QP 0x000041",
              "'second'",
              "'%s'".formatted(Thread.currentThread().getName()),
              "singleOwner()");
      check.end();
      // One after the other is allowed: a queue may be handed over.
      assertThat(other.submit(check::begin).get()).isTrue();
      assertThat(other.submit(check::end).get()).isTrue();
    }
    assertThat(check.begin()).isTrue();
  }
}

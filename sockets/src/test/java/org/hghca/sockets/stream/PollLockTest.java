package org.hghca.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** Whoever polls leaves the lock free, however that ends. */
class PollLockTest {
  private final ArrayDeque<BooleanSupplier> answers = new ArrayDeque<>();
  private final PollLock lock =
      new PollLock(() -> !answers.isEmpty() && answers.poll().getAsBoolean());

  private static boolean fails() {
    throw new IllegalStateException("the test's");
  }

  private void assertFree() {
    answers.add(() -> true);
    assertThat(lock.tryPoll()).isTrue();
  }

  @Test
  void pollThatThrowsLeavesTheLockFree() {
    answers.add(PollLockTest::fails);
    assertThatThrownBy(lock::tryPoll).hasMessage("the test's");
    assertFree();

    answers.addAll(List.of(() -> true, PollLockTest::fails));
    assertThatThrownBy(lock::pollAll).hasMessage("the test's");
    assertFree();
  }

  @Test
  void pollThatThrowsForAnotherThreadLeavesTheLockFree() {
    answers.addAll(
        List.of(
            () -> {
              lock.pollAll(); // as another thread does meanwhile
              return false;
            },
            PollLockTest::fails));
    assertThatThrownBy(lock::tryPoll).hasMessage("the test's");
    assertFree();
  }
}

package org.hghca.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RetirementTest {
  private final Retirement retirement = new Retirement();
  private final List<String> events = new ArrayList<>();

  private void retire(Runnable command) {
    retirement.retire("QP 0x2", command, () -> events.add("memory"), () -> events.add("numbers"));
  }

  @Test
  void memoryAndNumbersAreFreedAfterTheCardForgot() {
    retire(() -> events.add("command"));
    assertThat(events).containsExactly("command", "memory", "numbers");
  }

  @Test
  void memoryThatTheCardMayReachWaitsForTheReset() {
    retire(
        () -> {
          throw new IllegalStateException("the card does not answer");
        });
    assertThat(events).isEmpty();
    retirement.afterReset();
    assertThat(events).containsExactly("memory");
    retirement.afterReset();
    assertThat(events).containsExactly("memory");
  }
}

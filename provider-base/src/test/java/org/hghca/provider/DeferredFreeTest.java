package org.hghca.provider;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

public class DeferredFreeTest {
  private final DeferredFree deferredFree = new DeferredFree(cause -> false);
  private final List<String> events = new ArrayList<>();

  private void retire(Runnable command) {
    deferredFree.retire("QP 0x2", command, () -> events.add("memory"), () -> events.add("numbers"));
  }

  @Test
  public void memoryAndNumbersAreFreedAfterTheCardReleasedThem() {
    retire(() -> events.add("command"));
    assertThat(events).containsExactly("command", "memory", "numbers");
  }

  @Test
  public void memoryThatTheCardMayReachWaitsForTheReset() {
    retire(
        () -> {
          throw new IllegalStateException("the card does not answer");
        });
    assertThat(events).isEmpty();
    deferredFree.afterReset();
    assertThat(events).containsExactly("memory");
    deferredFree.afterReset();
    assertThat(events).containsExactly("memory");
  }

  @Test
  public void noCommandIsIssuedAfterTheReset() {
    deferredFree.afterReset();
    retire(() -> events.add("command"));
    assertThat(events).containsExactly("memory");
  }

  @Test
  public void memoryWhoseKeyWaitedForTheResetIsFreedWithIt() {
    Runnable refused =
        () -> {
          throw new IllegalStateException("the card does not answer");
        };
    deferredFree.retire(
        "QP 0x2",
        refused,
        () -> deferredFree.retire("key 0x20", refused, () -> events.add("ring"), () -> {}),
        () -> {});
    deferredFree.afterReset();
    assertThat(events).containsExactly("ring");
  }

  @Test
  public void memoryInUseElsewhereDoesNotBlockOthers() {
    Runnable refused =
        () -> {
          throw new IllegalStateException("the card does not answer");
        };
    deferredFree.retire(
        "MR 0x20",
        refused,
        () -> {
          throw new IllegalStateException("native code uses it");
        },
        () -> {});
    retire(refused);
    deferredFree.afterReset();
    assertThat(events).containsExactly("memory");
  }
}

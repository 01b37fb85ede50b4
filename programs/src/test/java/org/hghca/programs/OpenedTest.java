package org.hghca.programs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class OpenedTest {
  private final List<String> closed = new ArrayList<>();
  private final Opened opened = new Opened();

  private void add(String name, boolean fails) {
    AutoCloseable _ =
        opened.add(
            () -> {
              closed.add(name);
              if (fails) {
                throw new IllegalStateException(name);
              }
            });
  }

  @Test
  void firstFailureIsThrownWithTheOthersSuppressedWhenAllAreClosed() {
    add("first", true);
    add("second", false);
    add("third", true);

    assertThatThrownBy(opened::close)
        .hasMessage("third")
        .satisfies(
            e ->
                assertThat(e.getSuppressed())
                    .singleElement()
                    .extracting("message")
                    .isEqualTo("first"));
    assertThat(closed).containsExactly("third", "second", "first");
  }
}

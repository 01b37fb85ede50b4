package org.hghca.tools.bringup.data;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which pages have a message even when time runs out. */
class PagesTest {
  @Test
  void pagesAtWhichABitChangesComeFirst() {
    assertThat(Pages.order(1040))
        .startsWith(1024, 1023, 512, 511, 256, 255, 128, 127, 64, 63, 32, 31, 16, 15, 8, 7, 4, 3)
        .contains(1039);
    assertThat(Pages.order(6)).containsExactly(4, 3, 2, 1, 0, 5);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 64, 512, 513, 1040})
  void everyPageHasOne(int pages) {
    assertThat(Pages.order(pages)).hasSize(pages).doesNotHaveDuplicates();
  }
}

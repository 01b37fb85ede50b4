package org.hghca.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.Test;

class NumberAllocatorTest {
  private final NumberAllocator numbers = new NumberAllocator("queue pairs", 2, 5);

  @Test
  void handsOutEveryNumberOfTheRangeOnce() {
    assertThat(new int[] {numbers.allocate(), numbers.allocate(), numbers.allocate()})
        .containsExactly(2, 3, 4);
    assertThat(numbers.inUse()).isEqualTo(3);
  }

  @Test
  void takesAFreedNumberAgainOnlyAfterAllOthers() {
    int first = numbers.allocate();
    numbers.free(first);
    assertThat(numbers.allocate()).isEqualTo(3);
    assertThat(numbers.allocate()).isEqualTo(4);
    assertThat(numbers.allocate()).isEqualTo(2);
  }

  @Test
  void saysWhatIsExhausted() {
    numbers.allocate();
    numbers.allocate();
    numbers.allocate();
    assertThatThrownBy(numbers::allocate)
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOMEM))
        .hasMessage("all 3 queue pairs of the device are in use: ENOMEM (12)");
  }
}

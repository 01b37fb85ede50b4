package org.hghca.provider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.hghca.provider.queue.RingNumbers;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.Test;

public class NumberAllocatorTest {
  private final NumberAllocator numbers = new NumberAllocator("queue pairs", 2, 5);

  @Test
  public void everyNumberOfTheRangeIsAllocatedOnce() {
    assertThat(new int[] {numbers.allocate(), numbers.allocate(), numbers.allocate()})
        .containsExactly(2, 3, 4);
    assertThat(numbers.inUse()).isEqualTo(3);
  }

  @Test
  public void freedNumberIsReusedOnlyAfterAllOthers() {
    int first = numbers.allocate();
    numbers.free(first);
    assertThat(numbers.allocate()).isEqualTo(3);
    assertThat(numbers.allocate()).isEqualTo(4);
    assertThat(numbers.allocate()).isEqualTo(2);
  }

  @Test
  public void rangeThatBeginsAnywhereIsUsedWholly() {
    for (int start = 2; start < 5; start++) {
      NumberAllocator wrapping = new NumberAllocator("queue pairs", 2, 5, start);
      assertThat(wrapping.allocate()).isEqualTo(start);
      assertThat(new int[] {start, wrapping.allocate(), wrapping.allocate()})
          .containsExactlyInAnyOrder(2, 3, 4);
      assertThatThrownBy(wrapping::allocate).isInstanceOf(VerbsException.class);
    }
    assertThat(new RingNumbers<>("queue pairs", 2, 5, 4).allocate(slot -> false)).isEqualTo(4);
  }

  @Test
  public void exhaustionNamesTheNumbers() {
    numbers.allocate();
    numbers.allocate();
    numbers.allocate();
    assertThatThrownBy(numbers::allocate)
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOMEM))
        .hasMessage("all 3 queue pairs of the device are in use: ENOMEM (12)");
  }

  @Test
  public void retiredNumberIsNotReusedAndIsReported() {
    int retired = numbers.allocate();
    numbers.retire(retired);
    int unfit = numbers.allocate();
    numbers.allocate();
    numbers.free(unfit);
    assertThat(numbers.retired()).isEqualTo(1);
    assertThatThrownBy(() -> numbers.allocate(number -> number != unfit))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOMEM))
        .hasMessageContaining("3 queue pairs 1 are in use, 1 retired")
        .hasMessageContaining("1 stopped at a position where a new one does not fit")
        .hasMessageContaining("open it again");
    assertThat(numbers.allocate()).isEqualTo(unfit);
  }

  @Test
  public void numberHasItsLastPositionIfThatFits() {
    RingNumbers<Integer> rings = new RingNumbers<>("completion queues", 0, 2);
    int first = rings.allocate(slot -> false); // new: no position is requested
    assertThat(rings.position(first)).isEmpty();
    rings.free(first, 5);
    int second = rings.allocate(slot -> slot < 4);
    assertThat(second).isNotEqualTo(first);
    assertThatThrownBy(() -> rings.allocate(slot -> slot < 4)).isInstanceOf(VerbsException.class);
    assertThat(rings.allocate(slot -> slot < 8)).isEqualTo(first);
    assertThat(rings.position(first)).hasValue(5);
  }

  @Test
  void givenNumberIsClaimedOnceAndNotCountedInTheRange() {
    NumberAllocator numbers = new NumberAllocator("queue pairs", 2, 4);
    assertThat(numbers.claim(1)).isTrue();
    assertThat(numbers.claim(1)).isFalse();
    assertThat(numbers.allocate()).isEqualTo(2);
    assertThat(numbers.allocate()).isEqualTo(3);
    assertThatThrownBy(numbers::allocate)
        .isInstanceOf(VerbsException.class)
        .hasMessageStartingWith("all 2 queue pairs of the device are in use");
    numbers.free(1);
    assertThat(numbers.claim(1)).isTrue();
  }
}

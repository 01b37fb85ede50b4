package org.hghca.provider;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The numbers of objects in whose rings a card may go on where it was under the same number before:
 * a number that was freed comes with the position that it stopped at, and one whose position nobody
 * knows does not come again. Thread-safe.
 *
 * @param <P> a position
 */
public final class RingNumbers<P> {
  private final NumberAllocator numbers;
  private final Map<Integer, P> positions = new HashMap<>();

  public RingNumbers(String what, int first, int end) {
    numbers = new NumberAllocator(what, first, end);
  }

  /**
   * Hands out a number, the card's position in its ring forgotten or fit for the new ring.
   *
   * @param fits is asked of the positions of numbers that have one
   * @throws org.hghca.verbs.VerbsException ENOMEM when there is none
   */
  public synchronized int allocate(Predicate<P> fits) {
    return numbers.allocate(
        number -> {
          P position = positions.get(number);
          return position == null || fits.test(position);
        });
  }

  /** Where the card goes on in a ring of this number; empty for the beginning. */
  public synchronized Optional<P> position(int number) {
    return Optional.ofNullable(positions.get(number));
  }

  /** A number is free; the card continues from its last position. */
  public void free(int number) {
    numbers.free(number);
  }

  /** A number is free; the card continues from here. */
  public synchronized void free(int number, P position) {
    positions.put(number, position);
    numbers.free(number);
  }

  /** A number is not given out again. */
  public void retire(int number) {
    numbers.retire(number);
  }

  public int retired() {
    return numbers.retired();
  }

  public int inUse() {
    return numbers.inUse();
  }
}

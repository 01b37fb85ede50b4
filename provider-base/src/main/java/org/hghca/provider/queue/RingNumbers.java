package org.hghca.provider.queue;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.hghca.provider.NumberAllocator;

/**
 * The numbers of objects whose rings a card may continue at the position of the previous object
 * with the same number. A freed number is reused with its last position; a number with an unknown
 * position is not reused. Thread-safe.
 *
 * @param <P> a position
 */
public final class RingNumbers<P> {
  private final NumberAllocator numbers;
  private final Map<Integer, P> positions = new HashMap<>();

  public RingNumbers(String what, int first, int end) {
    this(what, first, end, first);
  }

  /** The numbers of a range, of which one is allocated first. */
  public RingNumbers(String what, int first, int end, int start) {
    numbers = new NumberAllocator(what, first, end, start);
  }

  /**
   * Allocates a number without a stored position, or with one that fits the new ring.
   *
   * @param fits tests the position of a number
   * @throws org.hghca.verbs.VerbsException ENOMEM when there is none
   */
  public synchronized int allocate(Predicate<P> fits) {
    return numbers.allocate(
        number -> {
          P position = positions.get(number);
          return position == null || fits.test(position);
        });
  }

  /** Allocates a certain number outside of the range; returns whether it was free. */
  public boolean claim(int number) {
    return numbers.claim(number);
  }

  /** The position at which the card continues in a ring of this number; empty for the beginning. */
  public synchronized Optional<P> position(int number) {
    return Optional.ofNullable(positions.get(number));
  }

  /** A number is free; the card continues from its last position. */
  public void free(int number) {
    numbers.free(number);
  }

  /** A number is free; the card continues from this position. */
  public synchronized void free(int number, P position) {
    positions.put(number, position);
    numbers.free(number);
  }

  /** A number is not allocated again. */
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

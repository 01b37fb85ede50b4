package org.hghca.model.virtio;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.IntUnaryOperator;

/**
 * Objects of one kind by their number. A number that was freed is the last to be used again.
 *
 * @param <T> the kind
 */
final class Numbers<T> {
  private final int first;
  private final List<Optional<T>> objects;
  private final IntUnaryOperator start;
  private int next;

  /**
   * @param first the lowest number, which is used first
   * @param end the number behind the highest one
   */
  Numbers(int first, int end) {
    this(first, end, count -> 0);
  }

  /**
   * @param first the lowest number
   * @param end the number behind the highest one
   * @param start which of so many is used first
   */
  Numbers(int first, int end, IntUnaryOperator start) {
    this.first = first;
    this.objects = new ArrayList<>(Collections.nCopies(end - first, Optional.empty()));
    this.start = start;
    this.next = start.applyAsInt(objects.size());
  }

  /** The number that the next object gets; empty when all are in use. */
  Optional<Integer> free() {
    for (int i = 0; i < objects.size(); i++) {
      int at = (next + i) % objects.size();
      if (objects.get(at).isEmpty()) {
        return Optional.of(first + at);
      }
    }
    return Optional.empty();
  }

  /** Gives an object a number that is free. */
  void put(int number, T object) {
    objects.set(number - first, Optional.of(object));
    next = (number - first + 1) % objects.size();
  }

  /** The object of a number that a driver gave, which may be any. */
  Optional<T> get(int number) {
    int at = number - first;
    return at >= 0 && at < objects.size() && number >= 0 ? objects.get(at) : Optional.empty();
  }

  void remove(int number) {
    objects.set(number - first, Optional.empty());
  }

  void clear() {
    Collections.fill(objects, Optional.empty());
    next = start.applyAsInt(objects.size());
  }
}

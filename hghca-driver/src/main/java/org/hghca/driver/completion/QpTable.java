package org.hghca.driver.completion;

import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * The queue pairs of a device by their number. Thread-safe.
 *
 * @param <Q> the type of a queue pair
 */
public final class QpTable<Q> {
  private final AtomicReferenceArray<Q> slots;

  public QpTable(int count) {
    slots = new AtomicReferenceArray<>(count);
  }

  /** The queue pair with a number; null when there is none. */
  public Q find(int number) {
    return number >= 0 && number < slots.length() ? slots.getAcquire(number) : null;
  }

  /** A queue pair that matches a predicate; null when there is none. */
  public Q first(Predicate<? super Q> question) {
    for (int number = 0; number < slots.length(); number++) {
      Q qp = find(number);
      if (qp != null && question.test(qp)) {
        return qp;
      }
    }
    return null;
  }

  /** Runs an action for each queue pair. */
  public void forEach(Consumer<? super Q> action) {
    for (int number = 0; number < slots.length(); number++) {
      Q qp = find(number);
      if (qp != null) {
        action.accept(qp);
      }
    }
  }

  public void put(int number, Q qp) {
    slots.setRelease(number, qp);
  }

  public void remove(int number) {
    slots.setRelease(number, null);
  }
}

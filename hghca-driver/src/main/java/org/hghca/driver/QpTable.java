package org.hghca.driver;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** The queue pairs of a device by their number. Thread-safe. */
final class QpTable {
  private final AtomicReferenceArray<HghcaQueuePair> slots;

  QpTable(int count) {
    slots = new AtomicReferenceArray<>(count);
  }

  /** The queue pair with a number; null when there is none. */
  HghcaQueuePair find(int number) {
    return number >= 0 && number < slots.length() ? slots.getAcquire(number) : null;
  }

  /** One that a question is answered with yes for; null when there is none. */
  HghcaQueuePair first(Predicate<HghcaQueuePair> question) {
    for (int number = 0; number < slots.length(); number++) {
      HghcaQueuePair qp = find(number);
      if (qp != null && question.test(qp)) {
        return qp;
      }
    }
    return null;
  }

  /** Which queue pair has a request that is not complete and names memory by this key. */
  Optional<String> userOf(int key) {
    return Optional.ofNullable(first(qp -> qp.names(key))).map(HghcaQueuePair::describe);
  }

  /** The number of a queue pair's protection domain; {@link SendChecks#UNKNOWN} for none such. */
  int domainOf(int number) {
    HghcaQueuePair qp = find(number);
    return qp == null ? SendChecks.UNKNOWN : qp.domain().number();
  }

  /** Does something with each queue pair that is there. */
  void forEach(Consumer<HghcaQueuePair> action) {
    for (int number = 0; number < slots.length(); number++) {
      HghcaQueuePair qp = find(number);
      if (qp != null) {
        action.accept(qp);
      }
    }
  }

  void put(int number, HghcaQueuePair qp) {
    slots.setRelease(number, qp);
  }

  void remove(int number) {
    slots.setRelease(number, null);
  }
}

package org.hghca.model.transport;

import java.util.Arrays;

/** The timers that run, in a binary heap by their times; setting and clearing one is cheap. */
final class Timers {
  /** Deadline of a timer that does not run. */
  static final long NEVER = Long.MAX_VALUE;

  /** A timer of a queue pair. */
  static final class Timer {
    final int qpn;
    private long deadline = NEVER;

    /** The position in the heap, -1 if it is not there. */
    private int index = -1;

    Timer(int qpn) {
      this.qpn = qpn;
    }

    long deadline() {
      return deadline;
    }
  }

  private Timer[] heap = new Timer[16];
  private int size;

  /** The earliest deadline, {@link #NEVER} when there is none. */
  long next() {
    return size == 0 ? NEVER : heap[0].deadline;
  }

  /** The timer whose deadline is the earliest, taken out if it is due, else null. */
  Timer takeDue(long now) {
    if (size == 0 || heap[0].deadline > now) {
      return null;
    }
    Timer due = heap[0];
    clear(due);
    return due;
  }

  void set(Timer timer, long deadline) {
    if (timer.deadline == deadline && timer.index >= 0) {
      return; // once more in the same step
    }
    boolean later = timer.deadline < deadline;
    timer.deadline = deadline;
    if (timer.index < 0) {
      if (size == heap.length) {
        heap = Arrays.copyOf(heap, 2 * size);
      }
      timer.index = size;
      heap[size++] = timer;
      up(timer.index);
    } else if (later) {
      down(timer.index);
    } else {
      up(timer.index);
    }
  }

  void clear(Timer timer) {
    int index = timer.index;
    if (index < 0) {
      return;
    }
    timer.index = -1;
    timer.deadline = NEVER;
    Timer last = heap[--size];
    heap[size] = null;
    if (last != timer) {
      put(index, last);
      up(index);
      down(last.index);
    }
  }

  private void up(int index) {
    Timer timer = heap[index];
    int at = index;
    while (at > 0) {
      int parent = (at - 1) / 2;
      if (heap[parent].deadline <= timer.deadline) {
        break;
      }
      put(at, heap[parent]);
      at = parent;
    }
    put(at, timer);
  }

  private void down(int index) {
    Timer timer = heap[index];
    int at = index;
    while (2 * at + 1 < size) {
      int child = 2 * at + 1;
      if (child + 1 < size && heap[child + 1].deadline < heap[child].deadline) {
        child++;
      }
      if (heap[child].deadline >= timer.deadline) {
        break;
      }
      put(at, heap[child]);
      at = child;
    }
    put(at, timer);
  }

  private void put(int index, Timer timer) {
    heap[index] = timer;
    timer.index = index;
  }
}

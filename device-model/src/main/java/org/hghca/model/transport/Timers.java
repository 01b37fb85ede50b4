package org.hghca.model.transport;

import java.util.Arrays;

/**
 * The endpoints that wait for a time, in a binary heap by that time. An endpoint is in it at most
 * once; setting and clearing its time is cheap.
 */
final class Timers {
  /** Deadline of an endpoint without a timer. */
  static final long NEVER = Long.MAX_VALUE;

  private Endpoint[] heap = new Endpoint[16];
  private int size;

  /** The earliest deadline, {@link #NEVER} when there is none. */
  long next() {
    return size == 0 ? NEVER : heap[0].deadline;
  }

  /** The endpoint whose deadline is the earliest, taken out if it is due, else null. */
  Endpoint takeDue(long now) {
    if (size == 0 || heap[0].deadline > now) {
      return null;
    }
    Endpoint due = heap[0];
    clear(due);
    return due;
  }

  void set(Endpoint endpoint, long deadline) {
    boolean later = endpoint.deadline < deadline;
    endpoint.deadline = deadline;
    if (endpoint.timerIndex < 0) {
      if (size == heap.length) {
        heap = Arrays.copyOf(heap, 2 * size);
      }
      endpoint.timerIndex = size;
      heap[size++] = endpoint;
      up(endpoint.timerIndex);
    } else if (later) {
      down(endpoint.timerIndex);
    } else {
      up(endpoint.timerIndex);
    }
  }

  void clear(Endpoint endpoint) {
    int index = endpoint.timerIndex;
    if (index < 0) {
      return;
    }
    endpoint.timerIndex = -1;
    endpoint.deadline = NEVER;
    Endpoint last = heap[--size];
    heap[size] = null;
    if (last != endpoint) {
      put(index, last);
      up(index);
      down(last.timerIndex);
    }
  }

  private void up(int index) {
    Endpoint endpoint = heap[index];
    int at = index;
    while (at > 0) {
      int parent = (at - 1) / 2;
      if (heap[parent].deadline <= endpoint.deadline) {
        break;
      }
      put(at, heap[parent]);
      at = parent;
    }
    put(at, endpoint);
  }

  private void down(int index) {
    Endpoint endpoint = heap[index];
    int at = index;
    while (2 * at + 1 < size) {
      int child = 2 * at + 1;
      if (child + 1 < size && heap[child + 1].deadline < heap[child].deadline) {
        child++;
      }
      if (heap[child].deadline >= endpoint.deadline) {
        break;
      }
      put(at, heap[child]);
      at = child;
    }
    put(at, endpoint);
  }

  private void put(int index, Endpoint endpoint) {
    heap[index] = endpoint;
    endpoint.timerIndex = index;
  }
}

package org.hghca.model.transport;

import java.util.ArrayDeque;

/**
 * Which queue pairs have something to send, and when one must be woken. Time is what {@link #time}
 * last got. Used by one thread.
 */
final class Schedule {
  private final ArrayDeque<Endpoint> waiting = new ArrayDeque<>();

  /** The one whose acknowledgement may leave with what it sends next; null for none. */
  private Endpoint held;

  private final Timers timers = new Timers();

  /** Of the turns that rate limits have put off. */
  private final Timers turns = new Timers();

  private long now;

  void time(long nanos) {
    now = nanos;
  }

  long now() {
    return now;
  }

  /** An endpoint has something to send. */
  void add(Endpoint endpoint) {
    if (!endpoint.scheduled) {
      endpoint.scheduled = true;
      waiting.add(endpoint);
    }
  }

  boolean isEmpty() {
    return waiting.isEmpty();
  }

  /** Takes the endpoint whose turn it is, which must exist. */
  Endpoint take() {
    Endpoint next = waiting.poll();
    next.scheduled = false;
    return next;
  }

  /**
   * An endpoint has an acknowledgement to send, which may wait until it sends more.
   *
   * @return false where it has waited
   */
  boolean holds(Endpoint endpoint) {
    if (endpoint.held) {
      return false;
    }
    release();
    endpoint.held = true;
    held = endpoint;
    return true;
  }

  boolean hasHeld() {
    return held != null;
  }

  /** Takes the one that is held; null where none is. */
  Endpoint takeHeld() {
    Endpoint taken = held;
    held = null;
    return taken;
  }

  /** The one that is held waits no longer. */
  void release() {
    if (held != null) {
      add(takeHeld());
    }
  }

  /** The sender of an endpoint is woken, instead of when it was to be. */
  void wakeAfter(Endpoint endpoint, long nanos) {
    timers.set(endpoint.timer, now + nanos);
  }

  void cancelTimer(Endpoint endpoint) {
    timers.clear(endpoint.timer);
  }

  /** The turn of an endpoint is put off. */
  void putOff(Endpoint endpoint, long nanos) {
    turns.set(endpoint.turnTimer, now + nanos);
  }

  /** A timer of {@link #wakeAfter} that is due, taken out; null when there is none. */
  Timers.Timer takeDueTimer() {
    return timers.takeDue(now);
  }

  /** A timer of {@link #putOff} that is due, taken out; null when there is none. */
  Timers.Timer takeDueTurn() {
    return turns.takeDue(now);
  }

  /** The earliest time of a timer, {@code Long.MAX_VALUE} when there is none. */
  long nextDeadline() {
    return Math.min(timers.next(), turns.next());
  }

  /** An endpoint ends: its timers are cleared. */
  void forget(Endpoint endpoint) {
    timers.clear(endpoint.timer);
    turns.clear(endpoint.turnTimer);
  }

  /** No endpoint is left. */
  void clear() {
    waiting.clear();
    held = null;
  }
}

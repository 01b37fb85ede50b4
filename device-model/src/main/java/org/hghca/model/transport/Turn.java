package org.hghca.model.transport;

/**
 * The turn of a connection that has nothing in flight, and finds no room in its peer's {@link
 * PeerLoad}. Used by one thread.
 */
final class Turn {
  /**
   * After so many nanoseconds it comes even if nothing else is acknowledged, and so many later for
   * each connection that waits before: others may be to queue pairs that are gone.
   */
  private static final long PATIENCE = 20_000_000;

  private static final long NEXT = 5_000_000;

  private final Schedule schedule;
  private final Endpoint endpoint;

  /** Where it waits, or has come. */
  private PeerLoad load;

  private int units;
  private boolean awaited;
  private boolean here;

  Turn(Schedule schedule, Endpoint endpoint) {
    this.schedule = schedule;
    this.endpoint = endpoint;
  }

  /** Whether the connection waits for it. */
  boolean isAwaited() {
    return awaited;
  }

  /** Whether the connection may send, whatever else is in flight to the address. */
  boolean isHere() {
    return here;
  }

  /** Units that the connection waits to send, or may send. */
  int units() {
    return units;
  }

  /**
   * Waits for it, if the connection does not yet. The endpoint's timer runs for it meanwhile.
   *
   * @param wanted units of the packet, or of the piece of a READ, that it waits to send
   */
  void await(PeerLoad where, int wanted) {
    if (!awaited) {
      awaited = true;
      load = where;
      units = wanted;
      schedule.wakeAfter(endpoint, PATIENCE + where.await(this) * NEXT);
    }
  }

  /** It has waited long enough. */
  void force() {
    load.give(this);
  }

  /** It comes: by the load. */
  void come() {
    awaited = false;
    here = true;
    schedule.cancelTimer(endpoint);
    schedule.add(endpoint);
  }

  /** The connection has sent, or has nothing to send now. */
  void end() {
    if (here) {
      here = false;
      load.ended(units);
    }
  }

  /** The connection neither waits nor has a turn any more. */
  void stop() {
    if (awaited) {
      awaited = false;
      load.forget(this);
    }
    end();
  }
}

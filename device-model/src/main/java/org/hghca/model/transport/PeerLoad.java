package org.hghca.model.transport;

import java.util.ArrayDeque;

/**
 * What the connections of a device have in flight to one address: however many they are, their
 * packets arrive in one buffer there, and the answers in one here. In the units of {@link
 * SendWindow}. Used by one thread.
 *
 * <p>How much may be in flight begins low and grows with each acknowledgement, since a peer whose
 * program has just begun is slow; a time-out halves it. A connection that has nothing in flight,
 * and finds no room, waits for its turn before it sends: a packet that is not sent has no time-out.
 */
final class PeerLoad {
  /** Units in flight to a peer of which nothing is known, or that is overrun. */
  private static final int FIRST = 16;

  /** A new round trip counts 1 : 2^3, as with TCP. */
  private static final int WEIGHT_LOG = 3;

  final long high;
  final long low;

  private final int most;
  private final ArrayDeque<Turn> waiting = new ArrayDeque<>();

  /** Units that may be in flight now. */
  private int allowed;

  /** Connections that have joined. */
  private int users;

  /** Those of them that have something in flight. */
  private int senders;

  private int inFlight;

  /** Units of those whose turn it is, and that have not sent yet. */
  private int granted;

  /** The smoothed round trip; 0 while none is known. */
  private long roundTrip;

  private long heardAt;

  /**
   * @param high the upper half of the address, as in {@link org.hghca.wire.IpAddress}
   * @param low the lower half
   * @param most units that are to be in flight at most
   */
  PeerLoad(long high, long low, int most) {
    this(high, low, most, Math.min(most, FIRST));
  }

  private PeerLoad(long high, long low, int most, int allowed) {
    this.high = high;
    this.low = low;
    this.most = most;
    this.allowed = allowed;
  }

  /** One that limits nothing. */
  static PeerLoad unlimited() {
    return new PeerLoad(0, 0, Integer.MAX_VALUE, Integer.MAX_VALUE);
  }

  void join() {
    users++;
  }

  /** Returns whether it was the last one. */
  boolean leave() {
    return --users == 0;
  }

  /** Units for each connection that has something in flight, or waits. */
  int share() {
    int shares = senders + waiting.size();
    return shares <= 1 ? allowed : Math.max(1, allowed / shares);
  }

  /** Whether there is room. */
  boolean takes(int units) {
    return units <= allowed - inFlight - granted;
  }

  /** Whether a connection that has nothing in flight may begin. */
  boolean admits(int units) {
    return waiting.isEmpty() && fits(units);
  }

  /** What is too much alone goes alone. */
  private boolean fits(int units) {
    return inFlight + granted == 0 || takes(units);
  }

  /** What a connection has in flight has changed. */
  void changed(int before, int after) {
    inFlight += after - before;
    if (before == 0 && after > 0) {
      senders++;
    } else if (before > 0 && after == 0) {
      senders--;
    }
    if (after < before) {
      grant();
    }
  }

  /** Units of a connection are acknowledged: as many more may follow, up to the limit. */
  void acknowledged(int units) {
    allowed += Math.min(units, most - allowed);
    grant();
  }

  /** A time-out has passed without an answer: the peer takes less than it gets. */
  void overrun() {
    allowed = Math.min(allowed, Math.max(FIRST, allowed / 2));
  }

  /** An acknowledgement came so many nanoseconds after its packet was sent. */
  void measured(long nanos) {
    roundTrip = smooth(roundTrip, nanos);
  }

  /** The connection manager of the peer has sent something. */
  void heard(long now) {
    heardAt = now;
  }

  /** When the connection manager of the peer last sent something; 0 for never. */
  long heardAt() {
    return heardAt;
  }

  /** A smoothed round trip, 0 for none, after one more. */
  static long smooth(long before, long took) {
    return before == 0 ? took : before + (took - before >> WEIGHT_LOG);
  }

  /** The smoothed round trip in nanoseconds; 0 while none is known. */
  long roundTrip() {
    return roundTrip;
  }

  /** A connection waits until there is room; returns how many wait before it. */
  int await(Turn turn) {
    waiting.add(turn);
    return waiting.size() - 1;
  }

  /** A connection waits no longer. */
  void forget(Turn turn) {
    waiting.remove(turn);
    grant();
  }

  private void grant() {
    while (!waiting.isEmpty() && fits(waiting.element().units())) {
      give(waiting.element());
    }
  }

  /** A connection that waits gets its turn, room or not. */
  void give(Turn turn) {
    waiting.remove(turn);
    granted += turn.units();
    turn.come();
  }

  /** A turn has been used, or is given up. */
  void ended(int units) {
    granted -= units;
    grant();
  }
}

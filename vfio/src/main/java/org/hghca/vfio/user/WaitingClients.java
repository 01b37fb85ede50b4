package org.hghca.vfio.user;

import java.util.ArrayDeque;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Clients that have connected while another one is served. One that leaves soon is followed by the
 * next; while a client that has agreed on a version stays, each is told that the device is busy.
 * Thread-safe.
 */
final class WaitingClients {
  /** How long a client waits before it is told: its predecessor may be about to leave. */
  static final long GRACE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** How often a waiting thread looks whether the client that is served has agreed on a version. */
  private static final long STEP_MILLIS = 100;

  /** The most that wait; each has a thread. */
  static final int MOST = 16;

  /**
   * A client.
   *
   * @param process number of its process, 0 if unknown
   * @param since when it connected, by {@link System#nanoTime}
   */
  record Client(UserChannel channel, int process, long since) {}

  private final Supplier<OptionalInt> served;
  private final ArrayDeque<Client> waiting = new ArrayDeque<>();
  private boolean isServing;
  private boolean closed;

  /**
   * Nobody waits.
   *
   * @param served the process of the client that is served and has agreed on a version; empty when
   *     none has
   */
  WaitingClients(Supplier<OptionalInt> served) {
    this.served = served;
  }

  /**
   * Adds a client.
   *
   * @return false where too many wait, or at the end: its channel is still the caller's
   */
  synchronized boolean add(Client client) {
    if (closed || waiting.size() >= MOST) {
      return false;
    }
    boolean waits = isServing || !waiting.isEmpty();
    waiting.add(client);
    notifyAll();
    if (waits) {
      Thread.ofPlatform().daemon().name("hghca-waiting").start(() -> expire(client));
    }
    return true;
  }

  /** Waits for the next client to serve, after the one before has gone; empty at the end. */
  synchronized Optional<Client> next() {
    isServing = false;
    while (waiting.isEmpty() && !closed) {
      await(0);
    }
    if (closed) {
      return Optional.empty();
    }
    isServing = true;
    return Optional.of(waiting.remove());
  }

  /** Tells a client that the device is busy, unless its turn comes before. */
  private void expire(Client client) {
    OptionalInt by;
    synchronized (this) {
      by = served.get();
      while (waiting.contains(client)
          && (by.isEmpty() || System.nanoTime() - client.since() < GRACE_NANOS)) {
        await(STEP_MILLIS);
        by = served.get();
      }
      if (!waiting.remove(client)) {
        return;
      }
    }
    Busy.tell(client.channel(), by.orElse(0));
  }

  @SuppressWarnings("WaitNotInLoop") // its callers loop
  private void await(long millis) {
    try {
      wait(millis);
    } catch (InterruptedException e) {
      // Nobody interrupts the threads of a server: it ends by close.
    }
  }

  /** Hangs up on all that wait, and ends {@link #next}. */
  synchronized void close() {
    closed = true;
    waiting.forEach(client -> client.channel().close());
    waiting.clear();
    notifyAll();
  }
}

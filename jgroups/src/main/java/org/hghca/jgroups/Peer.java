package org.hghca.jgroups;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jgroups.stack.IpAddress;

/**
 * A member that is sent something, or has asked for a connection: at most one link leads to it.
 *
 * <p>When both ends ask at the same time, the request of the one with the lower address counts: it
 * refuses that of the other, which accepts. A request that comes late, after its member has
 * accepted, is known by its number: the answer has told the last one that it made.
 */
final class Peer {
  /** What it costs to make connections. */
  interface Connector {
    /** Makes a connection, and a link of it. */
    Link connect(Peer peer, int attempt) throws InterruptedException;

    /** Runs what may wait. */
    void run(Runnable task);

    /** Disconnects; may wait. */
    void release(Link link);
  }

  /** Bytes that wait for a connection; JGroups repeats what is dropped beyond. */
  private static final int MOST_WAITING = 1 << 20;

  private final IpAddress address;
  private final boolean precedes;
  private final Connector connector;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  private volatile Link link;

  // Guarded by the lock.
  private final Deque<byte[]> waiting = new ArrayDeque<>();
  private int waitingBytes;
  private boolean connecting;
  private boolean accepting;
  private int attempts;
  private long incarnation;
  private int superseded;
  private boolean gone;

  /**
   * A peer.
   *
   * @param own the address of this member
   */
  Peer(IpAddress address, IpAddress own, Connector connector) {
    this.address = address;
    this.precedes = own.compareTo(address) < 0;
    this.connector = connector;
  }

  IpAddress address() {
    return address;
  }

  boolean isConnected() {
    Link open = link;
    return open != null && !open.isClosed();
  }

  /**
   * Sends a bundle, or leaves a copy to the connection that is being made.
   *
   * @return whether it was not dropped
   */
  boolean send(byte[] data, int offset, int length) throws InterruptedException {
    Link open = link;
    if (open != null && !open.isClosed()) {
      return open.send(data, offset, length);
    }
    lock.lock();
    try {
      if (link != null && !link.isClosed()) {
        return link.send(data, offset, length);
      }
      if (gone || waitingBytes + length > MOST_WAITING) {
        return false;
      }
      byte[] copy = new byte[length];
      System.arraycopy(data, offset, copy, 0, length);
      waiting.add(copy);
      waitingBytes += length;
      if (!connecting && !accepting) {
        connecting = true;
        int attempt = ++attempts;
        connector.run(() -> connect(attempt));
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** The number of the last request that this member has made. */
  int attempts() {
    lock.lock();
    try {
      return attempts;
    } finally {
      lock.unlock();
    }
  }

  private void connect(int attempt) {
    try {
      Link made = connector.connect(this, attempt);
      if (made == null) {
        awaitOther();
      } else {
        install(made);
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    } finally {
      settle(true);
    }
  }

  /** After a failure the peer's request may be on its way; and who is not there is left alone. */
  private void awaitOther() throws InterruptedException {
    long left = TimeUnit.SECONDS.toNanos(1);
    lock.lock();
    try {
      while (link == null && !gone && left > 0) {
        left = changed.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }

  private void settle(boolean own) {
    lock.lock();
    try {
      if (own) {
        connecting = false;
      } else {
        accepting = false;
      }
      if (link == null && !connecting && !accepting) {
        waiting.clear();
        waitingBytes = 0;
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Decides about a request of the peer.
   *
   * @return whether to accept it: then {@link #accepted} follows
   */
  boolean requested(Greeting greeting) {
    lock.lock();
    try {
      boolean late = greeting.incarnation() == incarnation && greeting.attempt() - superseded <= 0;
      if (gone || late || accepting || connecting && precedes && link == null) {
        return false;
      }
      accepting = true;
      return true;
    } finally {
      lock.unlock();
    }
  }

  /**
   * The request is accepted.
   *
   * @param made null if it came to nothing
   */
  void accepted(Link made) throws InterruptedException {
    try {
      if (made != null) {
        install(made);
      }
    } finally {
      settle(false);
    }
  }

  /** What the peer has told with its answer. */
  void answered(Greeting greeting) {
    lock.lock();
    try {
      incarnation = greeting.incarnation();
      superseded = greeting.attempt();
    } finally {
      lock.unlock();
    }
  }

  /** Takes a link in the place of the one before, and sends what has waited. */
  private void install(Link made) throws InterruptedException {
    Link before;
    lock.lock();
    try {
      before = gone ? made : link;
      if (!gone) {
        for (byte[] bundle = waiting.poll(); bundle != null; bundle = waiting.poll()) {
          waitingBytes -= bundle.length;
          made.send(bundle, 0, bundle.length);
        }
        link = made;
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
    if (before != null) {
      connector.release(before);
    }
  }

  /** A link has ended: the next bundle makes another one. */
  void ended(Link over) {
    lock.lock();
    try {
      if (link == over) {
        link = null;
      }
    } finally {
      lock.unlock();
    }
    connector.release(over);
  }

  /**
   * Leaves the peer for good.
   *
   * @return its link, to be released; null if there is none
   */
  Link leave() {
    lock.lock();
    try {
      gone = true;
      Link left = link;
      link = null;
      waiting.clear();
      changed.signalAll();
      return left;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public String toString() {
    Link open = link;
    return open == null ? address + ": no connection" : open.describe();
  }
}

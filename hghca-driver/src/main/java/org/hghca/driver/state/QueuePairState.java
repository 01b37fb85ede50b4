package org.hghca.driver.state;

import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.BooleanSupplier;
import org.hghca.driver.ring.SendRing;
import org.hghca.provider.Health;
import org.hghca.provider.queue.SpinLock;
import org.hghca.verbs.QpState;

/**
 * The driver's state of a queue pair. A modify changes it, under the queue pair's monitor, and so
 * does a thread that detects an error, under any lock except that of the receives. The rings accept
 * requests accordingly.
 */
public final class QueuePairState {
  private static final AtomicReferenceFieldUpdater<QueuePairState, QpState> NOW =
      AtomicReferenceFieldUpdater.newUpdater(QueuePairState.class, QpState.class, "now");

  private final Health health;
  private final SendRing sends;

  /** Null for a queue pair that one thread owns. */
  private final SpinLock receiveLock;

  private volatile QpState now = QpState.RESET;

  /** Made once: an allocation that fails would leave the send ring open after a state change. */
  private final BooleanSupplier takesSends = this::takesSends;

  /**
   * RESET.
   *
   * @param receiveLock under which receives are posted; null when one thread does all posting
   */
  public QueuePairState(Health health, SendRing sends, SpinLock receiveLock) {
    this.health = health;
    this.sends = sends;
    this.receiveLock = receiveLock;
  }

  public QpState get() {
    return now;
  }

  /** Whether there was an error that flushes later requests in that direction. */
  public boolean hasFailed(boolean send) {
    QpState state = now;
    return state == QpState.ERR || send && state == QpState.SQE;
  }

  /** Whether the card processes the receive ring. */
  public boolean takesReceives() {
    QpState state = now;
    return state != QpState.RESET && state != QpState.ERR;
  }

  /** Whether it is ERR on a device that works. */
  public boolean isFlushed() {
    return now == QpState.ERR && !health.isDead();
  }

  private boolean takesSends() {
    boolean takes =
        switch (now) {
          case RTS, SQD, SQE -> true;
          case ERR -> sends.opensInError();
          case RESET, INIT, RTR -> false;
        };
    return takes && !health.isDead();
  }

  /** Changes the state, unless an error has changed it meanwhile. */
  public void change(QpState from, QpState to) {
    if (NOW.compareAndSet(this, from, to)) {
      openSends();
    }
  }

  /** Changes the state between two requests, not within one. */
  public void enter(QpState to) {
    lockReceives();
    now = to;
    unlockReceives();
    openSends();
  }

  /** An error takes it to ERR; returns whether that is new. */
  public boolean fail() {
    for (QpState state = now; state != QpState.ERR && state != QpState.RESET; state = now) {
      // A concurrent thread that moves it to RESET takes precedence: a closed ring must not open
      // again.
      if (NOW.compareAndSet(this, state, QpState.ERR)) {
        openSends();
        return true;
      }
    }
    return false;
  }

  /** Opens or closes the send ring, according to the state and the device's health. */
  public void openSends() {
    sends.setOpen(takesSends);
  }

  public void lockReceives() {
    if (receiveLock != null) {
      receiveLock.lock();
    }
  }

  public void unlockReceives() {
    if (receiveLock != null) {
      receiveLock.unlock();
    }
  }
}

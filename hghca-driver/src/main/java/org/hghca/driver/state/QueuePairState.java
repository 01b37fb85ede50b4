package org.hghca.driver.state;

import java.util.function.BooleanSupplier;
import org.hghca.driver.ring.SendRing;
import org.hghca.provider.Health;
import org.hghca.provider.object.DriverState;
import org.hghca.provider.queue.SpinLock;
import org.hghca.verbs.QpState;

/** The state of a queue pair, according to which its rings accept requests. */
public final class QueuePairState extends DriverState {
  private final Health health;
  private final SendRing sends;

  /** Null for a queue pair that one thread owns. */
  private final SpinLock receiveLock;

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

  /** Whether the card processes the receive ring. */
  public boolean takesReceives() {
    QpState state = get();
    return state != QpState.RESET && state != QpState.ERR;
  }

  /** Whether it is ERR on a device that works. */
  public boolean isFlushed() {
    return get() == QpState.ERR && !health.isDead();
  }

  private boolean takesSends() {
    boolean takes =
        switch (get()) {
          case RTS, SQD, SQE -> true;
          case ERR -> sends.opensInError();
          case RESET, INIT, RTR -> false;
        };
    return takes && !health.isDead();
  }

  @Override
  protected void changed() {
    openSends();
  }

  /** Changes the state between two requests, not within one. */
  public void enter(QpState to) {
    lockReceives();
    set(to);
    unlockReceives();
    openSends();
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

package org.hghca.provider.object;

import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.hghca.verbs.QpState;

/**
 * The driver's state of a queue pair, at first RESET. A modify changes it, under the queue pair's
 * monitor, and so does a thread that detects an error, under any lock except that of the receives.
 */
public class DriverState {
  private static final AtomicReferenceFieldUpdater<DriverState, QpState> NOW =
      AtomicReferenceFieldUpdater.newUpdater(DriverState.class, QpState.class, "now");

  private volatile QpState now = QpState.RESET;

  public final QpState get() {
    return now;
  }

  /** Another state. Under any lock. */
  protected void changed() {}

  /** Changes the state, unless an error has changed it meanwhile. */
  public final void change(QpState from, QpState to) {
    if (NOW.compareAndSet(this, from, to)) {
      changed();
    }
  }

  /** Changes the state whatever it is; under the locks of posting. Returns the state until then. */
  public final QpState set(QpState to) {
    return NOW.getAndSet(this, to);
  }

  /** An error takes it to ERR; returns whether that is new. */
  public final boolean fail() {
    for (QpState state = now; state != QpState.ERR && state != QpState.RESET; state = now) {
      // A concurrent thread that moves it to RESET takes precedence: a closed queue pair must not
      // open again.
      if (NOW.compareAndSet(this, state, QpState.ERR)) {
        changed();
        return true;
      }
    }
    return false;
  }
}

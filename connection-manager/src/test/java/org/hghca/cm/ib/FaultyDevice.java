package org.hghca.cm.ib;

import java.util.concurrent.atomic.AtomicInteger;
import org.hghca.cm.WatchedDevice;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/** A device of which a method fails: of its context, its protection domains or its queue pairs. */
public final class FaultyDevice {
  private final Context context;
  private final AtomicInteger left = new AtomicInteger();
  private volatile boolean once;
  private volatile String failing = "";

  /** A device that works, until {@link #fail}. */
  public FaultyDevice(Context real) {
    this.context = WatchedDevice.watch(real, this::check);
  }

  /** The context that fails. */
  public Context context() {
    return context;
  }

  /** From now on, a method fails with EIO after some calls that do not. */
  public void fail(String method, int after) {
    once = false;
    left.set(after);
    failing = method;
  }

  /** One call of a method fails with EIO, after some that do not. */
  public void failOnce(String method, int after) {
    fail(method, after);
    once = true;
  }

  /** From now on all works. */
  public void failNothing() {
    failing = "";
  }

  private void check(String method) {
    if (fails(method)) {
      throw new VerbsException(Errno.EIO, "a fault of " + method);
    }
  }

  private boolean fails(String method) {
    if (!method.equals(failing)) {
      return false;
    }
    int calls = left.getAndDecrement();
    return once ? calls == 0 : calls <= 0;
  }
}

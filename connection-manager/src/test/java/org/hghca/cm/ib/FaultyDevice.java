package org.hghca.cm.ib;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicInteger;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.VerbsException;

/** A device of which a method fails: of its context, its protection domains or its queue pairs. */
public final class FaultyDevice {
  private final Context context;
  private final AtomicInteger left = new AtomicInteger();
  private volatile boolean once;
  private volatile String failing = "";

  /** A device that works, until {@link #fail}. */
  public FaultyDevice(Context real) {
    this.context = wrap(Context.class, real);
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

  private boolean fails(String method) {
    if (!method.equals(failing)) {
      return false;
    }
    int calls = left.getAndDecrement();
    return once ? calls == 0 : calls <= 0;
  }

  /** From now on all works. */
  public void failNothing() {
    failing = "";
  }

  private <T> T wrap(Class<T> type, T real) {
    Object proxy =
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (_, method, arguments) -> {
              if (fails(method.getName())) {
                throw new VerbsException(Errno.EIO, "a fault of " + failing);
              }
              try {
                return wrapped(method.invoke(real, arguments));
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
    return type.cast(proxy);
  }

  private Object wrapped(Object result) {
    return switch (result) {
      case ProtectionDomain pd -> wrap(ProtectionDomain.class, pd);
      case QueuePair qp -> wrap(QueuePair.class, qp);
      case null, default -> result;
    };
  }
}

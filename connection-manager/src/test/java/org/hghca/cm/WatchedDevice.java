package org.hghca.cm;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.function.Consumer;
import org.hghca.verbs.Context;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QueuePair;

/**
 * A device of which each call passes by an observer: of context, protection domains, queue pairs.
 */
public final class WatchedDevice {
  private final Consumer<String> observer;

  private WatchedDevice(Consumer<String> observer) {
    this.observer = observer;
  }

  /**
   * A context whose observer gets the name of each method before it runs, and may throw in its
   * place.
   */
  public static Context watch(Context real, Consumer<String> observer) {
    return new WatchedDevice(observer).wrap(Context.class, real);
  }

  private <T> T wrap(Class<T> type, T real) {
    Object proxy =
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (_, method, arguments) -> {
              observer.accept(method.getName());
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

package org.hghca.cm;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.hghca.verbs.Context;
import org.hghca.verbs.ProtectionDomain;

/** A device of which calls are interrupted, once each: of its context or its protection domains. */
final class HookedDevice {
  private final Context context;
  private final Map<String, Runnable> hooks = new ConcurrentHashMap<>();

  HookedDevice(Context real) {
    this.context = wrap(Context.class, real);
  }

  /** The context that runs the hooks. */
  Context context() {
    return context;
  }

  /** Before the next call of a method, which may fail thereby. */
  void before(String method, Runnable hook) {
    hooks.put(method, hook);
  }

  private <T> T wrap(Class<T> type, T real) {
    Object proxy =
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (_, method, arguments) -> {
              Runnable hook = hooks.remove(method.getName());
              if (hook != null) {
                hook.run();
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
    return result instanceof ProtectionDomain pd ? wrap(ProtectionDomain.class, pd) : result;
  }
}

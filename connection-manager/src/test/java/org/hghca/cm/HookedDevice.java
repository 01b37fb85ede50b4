package org.hghca.cm;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.hghca.verbs.Context;

/** A device of which calls are interrupted, once each. */
final class HookedDevice {
  private final Context context;
  private final Map<String, Runnable> hooks = new ConcurrentHashMap<>();

  HookedDevice(Context real) {
    this.context = WatchedDevice.watch(real, this::interrupt);
  }

  /** The context that runs the hooks. */
  Context context() {
    return context;
  }

  /** Before the next call of a method, which may fail thereby. */
  void before(String method, Runnable hook) {
    hooks.put(method, hook);
  }

  private void interrupt(String method) {
    Runnable hook = hooks.remove(method);
    if (hook != null) {
      hook.run();
    }
  }
}

package org.hghca.programs;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.hghca.verbs.Context;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.WrapMemory;

/**
 * A device whose queue pairs offer memory for the PSN wrap, and only record what they take. They
 * take it before RTS.
 */
public final class OfferingDevice {
  private final Context real;
  private final Optional<WrapMemory> offer;
  private final List<WrapMemory> taken = new CopyOnWriteArrayList<>();

  /** The same device, whose queue pairs offer. */
  public OfferingDevice(Context real, Optional<WrapMemory> offer) {
    this.real = real;
    this.offer = offer;
  }

  /** The context whose queue pairs offer. */
  public Context context() {
    return wrap(Context.class, real);
  }

  /** The context beneath. */
  public Context real() {
    return real;
  }

  /** What its queue pairs took, in order. */
  public List<WrapMemory> taken() {
    return taken;
  }

  private <T> T wrap(Class<T> type, T object) {
    Object proxy =
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (_, method, arguments) -> {
              switch (method.getName()) {
                case "offerWrapMemory" -> {
                  return offer;
                }
                case "takeWrapMemory" -> {
                  QpState state = ((QueuePair) object).state();
                  if (state != QpState.INIT && state != QpState.RTR) {
                    throw new IllegalStateException("takes memory in " + state);
                  }
                  taken.add((WrapMemory) arguments[0]);
                  return null;
                }
                default -> {
                  try {
                    return wrapped(method.invoke(object, arguments));
                  } catch (InvocationTargetException e) {
                    throw e.getCause();
                  }
                }
              }
            });
    return type.cast(proxy);
  }

  private Object wrapped(Object result) {
    return switch (result) {
      case ProtectionDomain pd -> wrap(ProtectionDomain.class, pd);
      case QueuePair pair -> wrap(QueuePair.class, pair);
      case null, default -> result;
    };
  }
}

package org.hghca.cm;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.hghca.verbs.Errno;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WrapMemory;

/** Queue pairs of a device that offer memory for the PSN wrap, and what happens to them. */
final class OfferingQueuePairs {
  private final Optional<WrapMemory> offer;

  /** What was taken, and the states, in their order. */
  final List<String> steps = new ArrayList<>();

  /** Whether they refuse what they should take. */
  boolean refusing;

  OfferingQueuePairs(Optional<WrapMemory> offer) {
    this.offer = offer;
  }

  /** A protection domain whose queue pairs offer. */
  ProtectionDomain in(ProtectionDomain real) {
    return proxy(
        ProtectionDomain.class,
        real,
        (name, result, _) ->
            name.equals("createQueuePair")
                ? proxy(QueuePair.class, (QueuePair) result.get(), this::called)
                : result.get());
  }

  private Object called(String name, Call call, Object[] arguments) throws Throwable {
    return switch (name) {
      case "offerWrapMemory" -> offer;
      case "takeWrapMemory" -> {
        if (refusing) {
          throw new VerbsException(Errno.EINVAL, "refused " + arguments[0]);
        }
        steps.add("take " + arguments[0]);
        yield null;
      }
      case "modify" -> {
        Object result = call.get();
        steps.add(((QpAttributes) arguments[0]).state().toString());
        yield result;
      }
      default -> call.get();
    };
  }

  private interface Call {
    Object get() throws Throwable;
  }

  private interface Answer {
    Object of(String name, Call call, Object[] arguments) throws Throwable;
  }

  private static <T> T proxy(Class<T> type, T real, Answer answer) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (_, method, arguments) ->
                answer.of(
                    method.getName(),
                    () -> {
                      try {
                        return method.invoke(real, arguments);
                      } catch (InvocationTargetException e) {
                        throw e.getCause();
                      }
                    },
                    arguments)));
  }
}

package org.hghca.verbs;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.function.Function;

/** Objects of the verbs' interfaces that answer the calls a test needs, and refuse all others. */
final class Fakes {
  private Fakes() {}

  /** Before the name of a default method that an answer replaces. */
  static final String REPLACED = "replaced ";

  /**
   * Default methods work, unless there is an answer under {@link #REPLACED} and the name; every
   * other call goes to the answer under its method's name.
   */
  static <T> T of(Class<T> type, Map<String, Function<Object[], Object>> answers) {
    InvocationHandler handler =
        (proxy, method, arguments) -> {
          String name = method.isDefault() ? REPLACED + method.getName() : method.getName();
          Function<Object[], Object> answer = answers.get(name);
          if (answer == null && method.isDefault()) {
            return InvocationHandler.invokeDefault(proxy, method, arguments);
          }
          if (answer == null) {
            throw new UnsupportedOperationException(method.toString());
          }
          return answer.apply(arguments);
        };
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }
}

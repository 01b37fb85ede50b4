package org.hghca.vfio.linux;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.hghca.linux.Linux;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SystemCalls;

/** The system's calls, some of which a test answers; records the names of all. */
public final class TamperedCalls {
  /** The calls, oldest first. */
  public final List<String> names = Collections.synchronizedList(new ArrayList<>());

  private final Map<String, Function<Object[], Object>> answers = new HashMap<>();

  /** The calls themselves. */
  public final SystemCalls calls = proxy();

  private SystemCalls proxy() {
    InvocationHandler handler =
        (self, method, arguments) -> {
          names.add(method.getName());
          Function<Object[], Object> answer = answers.get(method.getName());
          Object result = answer == null ? null : answer.apply(arguments);
          try {
            return result == null ? method.invoke(Linux.system(), arguments) : result;
          } catch (InvocationTargetException e) {
            throw e.getCause();
          }
        };
    return (SystemCalls)
        Proxy.newProxyInstance(
            SystemCalls.class.getClassLoader(), new Class<?>[] {SystemCalls.class}, handler);
  }

  /**
   * Answers a call by its name.
   *
   * @param answer gets the arguments and returns the result, or null to call the kernel
   */
  public TamperedCalls answer(String name, Function<Object[], Object> answer) {
    answers.put(name, answer);
    return this;
  }

  /** Makes a call fail. */
  public TamperedCalls fail(String name, LinuxErrno errno) {
    boolean wide =
        List.of(SystemCalls.class.getMethods()).stream()
            .anyMatch(m -> m.getName().equals(name) && m.getReturnType() == long.class);
    return answer(name, arguments -> wide ? (Object) (long) -errno.number() : -errno.number());
  }
}

package org.hghca.wire.link;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.hghca.linux.Linux;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SystemCalls;

/** The system, except for the calls that a test answers. */
final class FaultyLinux {
  private final Map<String, Function<Object[], Object>> answers = new ConcurrentHashMap<>();
  private final List<String> calls = Collections.synchronizedList(new ArrayList<>());
  private final SystemCalls system =
      (SystemCalls)
          Proxy.newProxyInstance(
              SystemCalls.class.getClassLoader(),
              new Class<?>[] {SystemCalls.class},
              (self, method, arguments) -> {
                calls.add(method.getName());
                Function<Object[], Object> answer = answers.get(method.getName());
                try {
                  return answer == null
                      ? method.invoke(Linux.system(), arguments)
                      : answer.apply(arguments);
                } catch (InvocationTargetException e) {
                  throw e.getCause();
                }
              });

  SystemCalls system() {
    return system;
  }

  /** The test answers a call from now on. */
  void answer(String call, Function<Object[], Object> answer) {
    answers.put(call, answer);
  }

  /** A call that returns an int fails from now on. */
  void fail(String call, LinuxErrno errno) {
    answers.put(call, arguments -> -errno.number());
  }

  /** The system answers all calls again. */
  void recover() {
    answers.clear();
  }

  /** Whether the current call follows one by name. */
  boolean isFollowing(String call) {
    return calls.get(calls.size() - 2).equals(call);
  }

  /** The number of calls by name. */
  long count(String call) {
    synchronized (calls) {
      return calls.stream().filter(call::equals).count();
    }
  }
}

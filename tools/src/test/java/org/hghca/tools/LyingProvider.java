package org.hghca.tools;

import java.lang.foreign.Arena;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Context;
import org.hghca.verbs.Gid;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.PortAttributes;
import org.hghca.verbs.PortState;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.WcOpcode;
import org.hghca.verbs.WcStatus;
import org.hghca.verbs.spi.ProviderAccess;
import org.hghca.verbs.spi.RdmaProvider;

/** Devices that report success, or a configured status, and move no data. */
public final class LyingProvider implements RdmaProvider {
  public static final String SENDER = "lies-as-sender";
  public static final String RECEIVER = "lies-as-receiver";
  public static final String FAILING_SENDER = "fails-as-sender";

  @Override
  public List<RdmaDevice> devices() {
    return List.of();
  }

  @Override
  public Optional<Context> open(String name) {
    Queue<Integer> ends =
        switch (name) {
          case SENDER -> ends(WcStatus.SUCCESS, WcOpcode.SEND, 1);
          case RECEIVER -> ends(WcStatus.SUCCESS, WcOpcode.RECV, 2);
          case FAILING_SENDER -> ends(WcStatus.RNR_RETRY_EXC_ERR, WcOpcode.SEND, 1);
          default -> null;
        };
    return Optional.ofNullable(ends).map(completion -> context(name, completion));
  }

  private static Queue<Integer> ends(WcStatus status, WcOpcode opcode, int wrId) {
    return new ArrayDeque<>(List.of(status.code(), opcode.code(), wrId));
  }

  private static Context context(String name, Queue<Integer> completion) {
    return proxy(
        Context.class,
        (method, arguments) ->
            switch (method) {
              case "device" -> new RdmaDevice(name, name, 1);
              case "queryPort" ->
                  new PortAttributes(
                      PortState.ACTIVE, false, Mtu.MTU_4096, Mtu.MTU_4096, 1, 1, 1, 0, 0, 0, 1);
              case "queryGid" -> Gid.ofMac(1);
              case "allocateProtectionDomain" -> pd();
              default -> cq(completion);
            });
  }

  private static ProtectionDomain pd() {
    return proxy(
        ProtectionDomain.class,
        (method, arguments) -> method.equals("allocate") ? memory((long) arguments[0]) : qp());
  }

  private static MemoryRegion memory(long bytes) {
    var segment = Arena.ofAuto().allocate(bytes);
    return proxy(
        MemoryRegion.class,
        (method, arguments) ->
            switch (method) {
              case "segment" -> segment;
              case "address" -> segment.address();
              case "length" -> bytes;
              default -> 1;
            });
  }

  private static QueuePair qp() {
    return proxy(
        QueuePair.class,
        (method, arguments) ->
            switch (method) {
              case "number" -> 2;
              case "state" -> QpState.RESET;
              case "query" -> QpAttributes.to(QpState.RTS);
              case "modify" -> null;
              default -> true;
            });
  }

  private static CompletionQueue cq(Queue<Integer> completion) {
    return proxy(
        CompletionQueue.class,
        (method, arguments) -> {
          if (completion.isEmpty()) {
            return 0;
          }
          int status = completion.remove();
          int opcode = completion.remove();
          int wrId = completion.remove();
          Completions completions = (Completions) arguments[0];
          ProviderAccess.get().fill(completions, 0, wrId, status, opcode, 0, 2);
          ProviderAccess.get().fillMessage(completions, 0, 64, 0, 0, 0);
          return 1;
        });
  }

  /** The behavior of the other methods. */
  private interface Answer {
    Object to(String method, Object[] arguments);
  }

  private static <T> T proxy(Class<T> type, Answer answer) {
    InvocationHandler handler =
        (proxy, method, arguments) -> {
          if (method.isDefault()) {
            return InvocationHandler.invokeDefault(proxy, method, arguments);
          }
          return method.getName().equals("close") ? null : answer.to(method.getName(), arguments);
        };
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }
}

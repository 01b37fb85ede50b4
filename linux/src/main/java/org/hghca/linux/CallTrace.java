package org.hghca.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * System calls logged one per line, when they return: name, arguments, result. A structure is
 * logged as its bytes in braces, and again after the result if the call has changed it:
 *
 * <pre>
 * open(/dev/vfio/vfio, 0x80002) = 0x7
 * ioctl(0x7, VFIO_IOMMU_MAP_DMA 0x3b71, {2000000003000000...}) = 0x0
 * ioctl(0x9, VFIO_DEVICE_GET_INFO 0x3b6b, {1000...}) = 0x0 {1000...}
 * </pre>
 */
final class CallTrace {
  private static final int VFIO = ';' << 8 | 100;
  private static final int IOMMUFD = ';' << 8 | 0x80;

  /** As linux/vfio.h numbers them from 100 on, those of a container apart. */
  private static final String[] NAMES = {
    "VFIO_GET_API_VERSION",
    "VFIO_CHECK_EXTENSION",
    "VFIO_SET_IOMMU",
    "VFIO_GROUP_GET_STATUS",
    "VFIO_GROUP_SET_CONTAINER",
    "VFIO_GROUP_UNSET_CONTAINER",
    "VFIO_GROUP_GET_DEVICE_FD",
    "VFIO_DEVICE_GET_INFO",
    "VFIO_DEVICE_GET_REGION_INFO",
    "VFIO_DEVICE_GET_IRQ_INFO",
    "VFIO_DEVICE_SET_IRQS",
    "VFIO_DEVICE_RESET",
    "VFIO_DEVICE_GET_PCI_HOT_RESET_INFO",
    "VFIO_DEVICE_PCI_HOT_RESET",
  };

  private static final Map<Integer, String> OTHERS =
      Map.of(
          VFIO + 18,
          "VFIO_DEVICE_BIND_IOMMUFD",
          VFIO + 19,
          "VFIO_DEVICE_ATTACH_IOMMUFD_PT",
          VFIO + 20,
          "VFIO_DEVICE_DETACH_IOMMUFD_PT",
          IOMMUFD,
          "IOMMU_DESTROY",
          IOMMUFD + 1,
          "IOMMU_IOAS_ALLOC",
          IOMMUFD + 4,
          "IOMMU_IOAS_IOVA_RANGES",
          IOMMUFD + 5,
          "IOMMU_IOAS_MAP",
          IOMMUFD + 6,
          "IOMMU_IOAS_UNMAP");

  private static final Map<Integer, String> OF_CONTAINER =
      Map.of(
          VFIO + 12, "VFIO_IOMMU_GET_INFO",
          VFIO + 13, "VFIO_IOMMU_MAP_DMA",
          VFIO + 14, "VFIO_IOMMU_UNMAP_DMA");

  private final SystemCalls calls;
  private final Consumer<String> line;

  /** Descriptors of containers, whose request numbers are also used for functions. */
  private final Map<Object, Boolean> containers = new ConcurrentHashMap<>();

  private CallTrace(SystemCalls calls, Consumer<String> line) {
    this.calls = calls;
    this.line = line;
  }

  /**
   * Calls that are logged.
   *
   * @param line takes a line, on the thread that calls
   */
  static SystemCalls of(SystemCalls calls, Consumer<String> line) {
    CallTrace trace = new CallTrace(calls, line);
    return (SystemCalls)
        Proxy.newProxyInstance(
            SystemCalls.class.getClassLoader(),
            new Class<?>[] {SystemCalls.class},
            (self, method, arguments) -> trace.call(method, arguments));
  }

  private Object call(Method method, Object[] given) throws Throwable {
    Object[] arguments = given == null ? new Object[0] : given;
    String before = describe(method, arguments);
    Object answer;
    try {
      answer = method.invoke(calls, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
    long value = ((Number) answer).longValue();
    String after = describe(method, arguments);
    line.accept(
        "%s(%s) = %s%s"
            .formatted(
                method.getName(),
                before,
                value < 0 ? Long.toString(value) : "0x" + Long.toHexString(value),
                after.equals(before)
                    ? ""
                    : " " + after.substring(after.indexOf('{'), after.indexOf('}') + 1)));
    if (method.getName().equals("open") && arguments[0].toString().endsWith("/dev/vfio/vfio")) {
      containers.put(answer, true);
    } else if (method.getName().equals("close")) {
      containers.remove(arguments[0]);
    }
    return answer;
  }

  private String describe(Method method, Object[] arguments) {
    boolean container = arguments.length > 0 && containers.containsKey(arguments[0]);
    String text =
        Arrays.stream(arguments).map(CallTrace::describe).collect(Collectors.joining(", "));
    if (!method.getName().equals("ioctl")) {
      return text;
    }
    String name = name((int) arguments[1], container);
    return text.replaceFirst(", ", name.isEmpty() ? ", " : ", " + name + " ");
  }

  private static String describe(Object argument) {
    if (argument instanceof MemorySegment structure) {
      return "{" + HexFormat.of().formatHex(structure.toArray(ValueLayout.JAVA_BYTE)) + "}";
    }
    return argument instanceof Integer number
        ? "0x" + Integer.toHexString(number)
        : argument instanceof Long number ? "0x" + Long.toHexString(number) : argument.toString();
  }

  private static String name(int request, boolean container) {
    int index = request - VFIO;
    if (container && OF_CONTAINER.containsKey(request)) {
      return OF_CONTAINER.get(request);
    }
    return index >= 0 && index < NAMES.length ? NAMES[index] : OTHERS.getOrDefault(request, "");
  }
}

package org.hghca.vfio.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.hghca.linux.Linux;
import org.hghca.linux.SystemCalls;

/**
 * Recorded system calls, one a line, answered as recorded. A call that is not the next one of the
 * recording fails. Memory is real, at other addresses than in the recording.
 */
final class Recording {
  private static final int MAP_DMA = VfioAbi.IOMMU_MAP_DMA;

  /** Private anonymous memory, without pages until it is touched. */
  private static final int MAP_ANONYMOUS = 0x2 | 0x20 | 0x4000;

  private static final long HUGE_PAGE = 2 << 20;

  final List<String> lines;

  /** The mapping for each recorded address. */
  private final Map<Long, Long> starts = new HashMap<>();

  private int next;

  Recording(String resource) {
    try (BufferedReader reader =
        new BufferedReader(
            new InputStreamReader(
                Recording.class.getResourceAsStream(resource), StandardCharsets.UTF_8))) {
      lines = reader.lines().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  SystemCalls calls() {
    return (SystemCalls)
        Proxy.newProxyInstance(
            SystemCalls.class.getClassLoader(),
            new Class<?>[] {SystemCalls.class},
            (self, method, arguments) -> answer(method, arguments));
  }

  boolean isAtItsEnd() {
    return next == lines.size();
  }

  private Object answer(Method method, Object[] arguments) {
    if (isAtItsEnd()) {
      throw new AssertionError("after the end of the record: " + method.getName());
    }
    String line = lines.get(next++);
    int equals = line.lastIndexOf(") = ");
    String[] result = line.substring(equals + 4).split(" ", 2);
    String recorded = line.substring(0, equals).replaceAll("[A-Z0-9_]+ (0x3b)", "$1");
    String asked =
        method.getName()
            + "("
            + Arrays.stream(arguments).map(Recording::describe).collect(Collectors.joining(", "));
    if (!same(method, arguments, recorded, asked)) {
      throw new AssertionError("call %d: recorded %s, asked %s".formatted(next, recorded, asked));
    }
    if (result.length == 2) {
      byte[] bytes = HexFormat.of().parseHex(result[1].substring(1, result[1].length() - 1));
      MemorySegment structure =
          Arrays.stream(arguments)
              .filter(MemorySegment.class::isInstance)
              .map(MemorySegment.class::cast)
              .findFirst()
              .orElseThrow();
      MemorySegment.copy(bytes, 0, structure, ValueLayout.JAVA_BYTE, 0, bytes.length);
    }
    long value = Long.decode(result[0]);
    if (method.getName().equals("mmap") && value > 0) {
      value = map((long) arguments[0]);
    } else if (method.getName().equals("munmap")) {
      unmap((long) arguments[0], (long) arguments[1]);
    }
    return method.getReturnType() == long.class ? (Object) value : (Object) (int) value;
  }

  /** Memory whose alignment matches the recorded I/O addresses: on a huge page. */
  private long map(long bytes) {
    long start = Linux.system().mmap(bytes + HUGE_PAGE, 3, MAP_ANONYMOUS, -1, 0);
    long aligned = start + HUGE_PAGE - 1 & -HUGE_PAGE;
    starts.put(aligned, start);
    return aligned;
  }

  private void unmap(long aligned, long bytes) {
    assertThat(Linux.system().munmap(starts.remove(aligned), bytes + HUGE_PAGE)).isZero();
  }

  private static boolean same(Method method, Object[] arguments, String recorded, String asked) {
    return switch (method.getName()) {
      case "open" -> {
        // The recorded machine's files are at the root, the test's in a folder.
        String path = recorded.substring("open(".length());
        yield asked.endsWith(path);
      }
      case "munmap" -> tail(recorded).equals(tail(asked)); // length
      case "ioctl" ->
          arguments[1].equals(MAP_DMA)
              ? withoutAddress(recorded).equals(withoutAddress(asked))
              : recorded.equals(asked);
      default -> recorded.equals(asked);
    };
  }

  private static String tail(String call) {
    return call.substring(call.indexOf(", "));
  }

  /** Without the 8 bytes of {@code vaddr}, which follow 8 others. */
  private static String withoutAddress(String call) {
    int structure = call.indexOf('{') + 1;
    return call.substring(0, structure + 16) + call.substring(structure + 32);
  }

  private static String describe(Object argument) {
    return switch (argument) {
      case MemorySegment structure ->
          "{" + HexFormat.of().formatHex(structure.toArray(ValueLayout.JAVA_BYTE)) + "}";
      case Integer number -> "0x" + Integer.toHexString(number);
      case Long number -> "0x" + Long.toHexString(number);
      default -> argument.toString();
    };
  }
}

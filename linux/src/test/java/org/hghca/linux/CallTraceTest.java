package org.hghca.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The log line of a system call. */
final class CallTraceTest {
  private final List<String> lines = new ArrayList<>();

  @Test
  void callIsOneLineWithItsAnswerAndItsChanges() {
    SystemCalls calls = CallTrace.of(Linux.system(), lines::add);
    int event = calls.eventfd(5, 0);
    try (Arena arena = Arena.ofConfined()) {
      assertThat(calls.read(event, arena.allocate(8))).isEqualTo(8);
    }
    assertThat(calls.close(event)).isZero();
    assertThat(calls.close(-1)).isEqualTo(-9);

    String number = "0x" + Integer.toHexString(event);
    assertThat(lines)
        .containsExactly(
            "eventfd(0x5, 0x0) = " + number,
            "read(%s, {0000000000000000}) = 0x8 {0500000000000000}".formatted(number),
            "close(%s) = 0x0".formatted(number),
            "close(0xffffffff) = -9");
  }

  @Test
  void requestOfAContainerIsDistinguishedFromADeviceRequest() {
    SystemCalls calls =
        CallTrace.of(answering(Map.of("open", 5, "close", 0, "ioctl", 0)), lines::add);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment structure = arena.allocate(4);
      assertThat(calls.open("/dev/vfio/vfio", 2)).isEqualTo(5);
      assertThat(calls.ioctl(5, 0x3b71, structure)).isZero();
      assertThat(calls.close(5)).isZero();
      assertThat(calls.ioctl(5, 0x3b71, structure)).isZero();
      assertThat(calls.ioctl(5, 0x3b85, 7)).isZero();
    }

    assertThat(lines)
        .containsExactly(
            "open(/dev/vfio/vfio, 0x2) = 0x5",
            "ioctl(0x5, VFIO_IOMMU_MAP_DMA 0x3b71, {00000000}) = 0x0",
            "close(0x5) = 0x0",
            "ioctl(0x5, VFIO_DEVICE_PCI_HOT_RESET 0x3b71, {00000000}) = 0x0",
            "ioctl(0x5, IOMMU_IOAS_MAP 0x3b85, 0x7) = 0x0");
  }

  /** Calls that reach no kernel. */
  private static SystemCalls answering(Map<String, Integer> answers) {
    return (SystemCalls)
        Proxy.newProxyInstance(
            SystemCalls.class.getClassLoader(),
            new Class<?>[] {SystemCalls.class},
            (self, method, arguments) -> answers.get(method.getName()));
  }
}

package org.hghca.tools.raw;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import org.hghca.vfio.ConfigurationSpace;
import org.junit.jupiter.api.Test;

/** Errors in configuration space: which are new, and which have lost data. */
class PciErrorsTest {
  /** PCI Express at 70h behind MSI-X at 60h; error reporting at 140h behind another one. */
  private static final Map<Integer, Integer> LISTS =
      Map.of(
          0x06,
          0x10,
          0x34,
          0x60,
          0x60,
          0x11,
          0x61,
          0x70,
          0x70,
          0x10,
          0x100,
          0x1401_0003,
          0x140,
          0x0001_0001);

  private static final int DEVICE_STATUS = 0x7a;
  private static final int UNCORRECTABLE = 0x144;
  private static final int CORRECTABLE = 0x150;

  private static PciErrors errors(Map<Integer, Integer> registers) {
    Map<Integer, Integer> all = new HashMap<>(LISTS);
    all.putAll(registers);
    return PciErrors.of(
        new ConfigurationSpace() {
          @Override
          public int read(int offset, int width) {
            int value = all.getOrDefault(offset, 0);
            return width == Integer.BYTES ? value : value & (1 << Byte.SIZE * width) - 1;
          }

          @Override
          public void write(int offset, int width, int value) {
            throw new IllegalStateException("a look at errors writes nothing");
          }
        });
  }

  @Test
  void onlyNewErrorsAreSeenAndAreNamed() {
    PciErrors before = errors(Map.of(UNCORRECTABLE, 1 << 20, CORRECTABLE, 1));
    PciErrors now =
        errors(Map.of(UNCORRECTABLE, 1 << 20 | 1 << 14, CORRECTABLE, 1 | 1 << 6, DEVICE_STATUS, 3));

    assertThat(now.since(before).names()).containsExactly("completion timeout", "bad TLP");
    assertThat(now.since(before).isSevere()).isTrue();
    assertThat(now.since(now).names()).isEmpty();
    assertThat(now.since(now).isSevere()).isFalse();
  }

  @Test
  void refusedReadIsSevereAndOtherBitsOfTheStatusAreNoErrors() {
    PciErrors refused = errors(Map.of(0x06, 0x2010));

    assertThat(refused.names()).containsExactly("received master abort");
    assertThat(refused.isSevere()).isTrue();
    assertThat(refused.since(refused).names()).isEmpty();
    assertThat(errors(Map.of(0x06, 0x06ff)).text()).isEqualTo("none");
  }

  @Test
  void functionThatIsGoneReportsNothing() {
    assertThat(errors(Map.of(0x00, -1, 0x06, -1))).isEqualTo(PciErrors.NONE);
  }

  @Test
  void correctableErrorAndUnsupportedRequestHaveLostNothing() {
    assertThat(errors(Map.of(CORRECTABLE, 1, DEVICE_STATUS, 1)).isSevere()).isFalse();
    assertThat(errors(Map.of(UNCORRECTABLE, 1 << 20, DEVICE_STATUS, 8)).isSevere()).isFalse();
    assertThat(errors(Map.of(DEVICE_STATUS, 4)).isSevere()).isTrue();
  }

  @Test
  void withoutErrorReportingTheDeviceStatusSaysWhich() {
    assertThat(errors(Map.of(0x100, 0, DEVICE_STATUS, 6)).names())
        .containsExactly("non-fatal error", "fatal error");
  }

  @Test
  void functionWithoutCapabilitiesReportsNone() {
    assertThat(errors(Map.of(0x34, 0, 0x100, -1)).names()).isEmpty();
  }
}

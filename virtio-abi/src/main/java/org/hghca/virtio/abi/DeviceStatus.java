package org.hghca.virtio.abi;

import java.util.ArrayList;
import java.util.List;

/** Bits of the device status: "Device Status Field". A status of 0 is the reset device. */
public final class DeviceStatus {
  /** The driver has noticed the device. */
  public static final int ACKNOWLEDGE = 1;

  /** The driver can drive the device. */
  public static final int DRIVER = 2;

  /** The driver is ready: the device may use the queues. */
  public static final int DRIVER_OK = 4;

  /** The driver has written its features; the device clears it if it refuses them. */
  public static final int FEATURES_OK = 8;

  /** The device has failed and needs a reset. */
  public static final int NEEDS_RESET = 64;

  /** The driver has given up. */
  public static final int FAILED = 128;

  private static final int[] BITS = {
    ACKNOWLEDGE, DRIVER, DRIVER_OK, FEATURES_OK, NEEDS_RESET, FAILED
  };

  private static final List<String> NAMES =
      List.of("ACKNOWLEDGE", "DRIVER", "DRIVER_OK", "FEATURES_OK", "NEEDS_RESET", "FAILED");

  private DeviceStatus() {}

  /** A status for messages: {@code 0x0b (ACKNOWLEDGE|DRIVER|FEATURES_OK)}. */
  public static String describe(int status) {
    List<String> set = new ArrayList<>();
    int others = status;
    for (int i = 0; i < BITS.length; i++) {
      if ((status & BITS[i]) != 0) {
        set.add(NAMES.get(i));
        others &= ~BITS[i];
      }
    }
    if (others != 0) {
      set.add("0x%x".formatted(others));
    }
    return "0x%02x (%s)".formatted(status, set.isEmpty() ? "reset" : String.join("|", set));
  }
}

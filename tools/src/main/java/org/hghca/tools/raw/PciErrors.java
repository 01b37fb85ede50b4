package org.hghca.tools.raw;

import java.util.ArrayList;
import java.util.List;
import org.hghca.vfio.ConfigurationSpace;

/**
 * The errors that a function has reported since they were cleared (PCI Express Base Specification,
 * 7.5.3.5 device status, 7.8.4 advanced error reporting).
 *
 * @param device bits 3 to 0 of the device status; 0 without the capability
 * @param uncorrectable the uncorrectable error status; 0 without advanced error reporting
 * @param correctable the correctable error status; 0 without advanced error reporting
 */
public record PciErrors(int device, int uncorrectable, int correctable) {
  /** The bits of the uncorrectable error registers. */
  public static final BitNames UNCORRECTABLE =
      BitNames.of(
          "-, -, -, -, data link protocol, surprise down, -, -, -, -, -, -, poisoned TLP,"
              + " flow control protocol, completion timeout, completer abort,"
              + " unexpected completion, receiver overflow, malformed TLP, ECRC,"
              + " unsupported request, ACS violation, uncorrectable internal, MC blocked TLP,"
              + " AtomicOp egress blocked, TLP prefix blocked");

  /** The bits of the correctable error registers. */
  public static final BitNames CORRECTABLE =
      BitNames.of(
          "receiver error, -, -, -, -, -, bad TLP, bad DLLP, replay number rollover, -, -, -,"
              + " replay timer timeout, advisory non-fatal, corrected internal,"
              + " header log overflow");

  private static final BitNames DEVICE =
      BitNames.of("correctable error, non-fatal error, fatal error, unsupported request");

  private static final int FATAL = 1 << 2;

  /** A request for what the function does not have: also what a probe of it causes. */
  private static final int UNSUPPORTED_REQUEST = 1 << 20;

  private static final int CAPABILITIES = 0x34;
  private static final int EXPRESS = 0x10;
  private static final int DEVICE_STATUS = 0x0a;
  private static final int EXTENDED = 0x100;
  private static final int REPORTING = 0x0001;
  private static final int MOST = 64;

  /** What a function reports now. */
  public static PciErrors of(ConfigurationSpace space) {
    int express = express(space);
    int reporting = reporting(space);
    return new PciErrors(
        express == 0 ? 0 : space.read(express + DEVICE_STATUS, 2) & 0xf,
        reporting == 0 ? 0 : space.read(reporting + 0x04, 4),
        reporting == 0 ? 0 : space.read(reporting + 0x10, 4));
  }

  private static int express(ConfigurationSpace space) {
    int at = space.read(CAPABILITIES, 1) & ~3;
    for (int i = 0; at != 0 && i < MOST; i++) {
      if (space.read(at, 1) == EXPRESS) {
        return at;
      }
      at = space.read(at + 1, 1) & ~3;
    }
    return 0;
  }

  private static int reporting(ConfigurationSpace space) {
    int at = EXTENDED;
    for (int i = 0; at >= EXTENDED && i < MOST; i++) {
      int header = space.read(at, 4);
      if (header == 0 || header == -1) {
        return 0;
      }
      if ((header & 0xffff) == REPORTING) {
        return at;
      }
      at = header >>> 20 & 0xffc;
    }
    return 0;
  }

  /** Those that were not reported before. */
  public PciErrors since(PciErrors before) {
    return new PciErrors(
        device & ~before.device,
        uncorrectable & ~before.uncorrectable,
        correctable & ~before.correctable);
  }

  /** Whether data was lost: not for a correctable error, nor for an unsupported request alone. */
  public boolean isSevere() {
    return (device & FATAL) != 0 || (uncorrectable & ~UNSUPPORTED_REQUEST) != 0;
  }

  /** Their names; none without errors. */
  public List<String> names() {
    List<String> names = new ArrayList<>();
    names.addAll(UNCORRECTABLE.set(uncorrectable));
    names.addAll(CORRECTABLE.set(correctable));
    if (names.isEmpty()) {
      names.addAll(DEVICE.set(device));
    }
    return names;
  }
}

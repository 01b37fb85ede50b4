package org.hghca.tools.raw;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.hghca.vfio.ConfigurationSpace;

/**
 * The errors that a function has reported since they were cleared (PCI Express Base Specification,
 * 7.5.1.1.4 status, 7.5.3.5 device status, 7.8.4 advanced error reporting).
 *
 * @param status the error bits of the status register
 * @param device bits 3 to 0 of the device status; 0 without the capability
 * @param uncorrectable the uncorrectable error status; 0 without advanced error reporting
 * @param correctable the correctable error status; 0 without advanced error reporting
 */
public record PciErrors(int status, int device, int uncorrectable, int correctable) {
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

  /** The bits of the device status; the first four are errors. */
  public static final BitNames DEVICE =
      BitNames.of(
          "correctable error, non-fatal error, fatal error, unsupported request, auxiliary power,"
              + " transactions pending");

  /** No errors. */
  public static final PciErrors NONE = new PciErrors(0, 0, 0, 0);

  /** The error bits of the status register; the aborts of reads are what refused DMA shows. */
  private static final BitNames STATUS_ERRORS =
      BitNames.of(
          "-, -, -, -, -, -, -, -, poisoned data, -, -, signaled target abort,"
              + " received target abort, received master abort, signaled system error,"
              + " detected parity error");

  private static final int STATUS = 0x06;
  private static final int STATUS_BITS = 0xf900;

  /** Data came poisoned, or a read ended without data. */
  private static final int STATUS_SEVERE = 0xb100;

  private static final int FATAL = 1 << 2;

  private static final int NOBODY = 0xffff;

  /** A request for what the function does not have: also what a probe of it causes. */
  private static final int UNSUPPORTED_REQUEST = 1 << 20;

  private static final int EXPRESS = 0x10;
  private static final int DEVICE_STATUS = 0x0a;
  private static final int DEVICE_ERRORS = 0xf;
  private static final int REPORTING = 0x0001;
  private static final int UNCORRECTABLE_STATUS = 0x04;
  private static final int CORRECTABLE_STATUS = 0x10;

  /** What a function reports now; none where nothing answers. */
  public static PciErrors of(ConfigurationSpace space) {
    if (space.vendorId() == NOBODY) {
      return NONE;
    }
    OptionalInt express = CapabilityList.find(space, EXPRESS);
    OptionalInt reporting = CapabilityList.findExtended(space, REPORTING);
    return new PciErrors(
        space.read(STATUS, 2) & STATUS_BITS,
        express.isEmpty() ? 0 : space.read(express.getAsInt() + DEVICE_STATUS, 2) & DEVICE_ERRORS,
        reporting.isEmpty() ? 0 : space.read(reporting.getAsInt() + UNCORRECTABLE_STATUS, 4),
        reporting.isEmpty() ? 0 : space.read(reporting.getAsInt() + CORRECTABLE_STATUS, 4));
  }

  /** Those that were not reported before. */
  public PciErrors since(PciErrors before) {
    return new PciErrors(
        status & ~before.status,
        device & ~before.device,
        uncorrectable & ~before.uncorrectable,
        correctable & ~before.correctable);
  }

  /** These and others. */
  public PciErrors and(PciErrors other) {
    return new PciErrors(
        status | other.status,
        device | other.device,
        uncorrectable | other.uncorrectable,
        correctable | other.correctable);
  }

  /** Whether data was lost: not for a correctable error, nor for an unsupported request alone. */
  public boolean isSevere() {
    return (status & STATUS_SEVERE) != 0
        || (device & FATAL) != 0
        || (uncorrectable & ~UNSUPPORTED_REQUEST) != 0;
  }

  /** Their names in one line, {@code none} without errors. */
  public String text() {
    return names().isEmpty() ? "none" : String.join(", ", names());
  }

  /** Their names; none without errors. */
  public List<String> names() {
    List<String> names = new ArrayList<>();
    names.addAll(STATUS_ERRORS.set(status));
    names.addAll(UNCORRECTABLE.set(uncorrectable));
    names.addAll(CORRECTABLE.set(correctable));
    if (names.isEmpty()) {
      names.addAll(DEVICE.set(device));
    }
    return names;
  }
}

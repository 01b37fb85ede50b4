package org.hghca.vfio.kernel;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The release of a kernel, such as {@code 6.12.9-amd64}.
 *
 * @param major 0 with {@code minor} when the text is not understood
 */
record KernelRelease(String text, int major, int minor) {
  private static final Pattern NUMBERS = Pattern.compile("(\\d{1,4})\\.(\\d{1,4}).*");

  /** The release of the kernel that runs a machine. */
  static KernelRelease of(Machine machine) {
    String text =
        KernelFiles.text(machine.file("/proc/sys/kernel/osrelease")).orElse("of unknown release");
    Matcher numbers = NUMBERS.matcher(text);
    return numbers.matches()
        ? new KernelRelease(
            text, Integer.parseInt(numbers.group(1)), Integer.parseInt(numbers.group(2)))
        : new KernelRelease(text, 0, 0);
  }

  /**
   * Whether a read or write call of 8 bytes on a region is one access of 8 bytes: vfio-pci does so
   * on x86-64 since Linux 6.14, and since later releases of 6.12. Before, it makes two of 4.
   */
  boolean hasWideAccess() {
    return major > 6 || major == 6 && minor >= 12;
  }

  @Override
  public String toString() {
    return text;
  }
}

package org.hghca.vfio.kernel;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The release of a kernel, such as {@code 6.12.9-amd64}.
 *
 * @param major 0, like the others, if the text cannot be parsed
 * @param patch of the stable releases; 0 if the text has none
 */
record KernelRelease(String text, int major, int minor, int patch) {
  private static final Pattern NUMBERS =
      Pattern.compile("(\\d{1,4})\\.(\\d{1,4})(?:\\.(\\d{1,4}))?(?:\\D.*)?");

  /** The kernels that messages recommend for {@link #hasWideAccess}. */
  static final String WITH_WIDE_ACCESS = "Linux 6.14, or 6.12.16 and later of 6.12";

  /** The release of the kernel that runs a machine. */
  static KernelRelease of(Machine machine) {
    String text =
        KernelFiles.text(machine.file("/proc/sys/kernel/osrelease")).orElse("of unknown release");
    Matcher numbers = NUMBERS.matcher(text);
    return numbers.matches()
        ? new KernelRelease(
            text,
            Integer.parseInt(numbers.group(1)),
            Integer.parseInt(numbers.group(2)),
            numbers.group(3) == null ? 0 : Integer.parseInt(numbers.group(3)))
        : new KernelRelease(text, 0, 0, 0);
  }

  /**
   * Whether a read or write call of 8 bytes on a region is certainly one access of 8 bytes.
   * vfio-pci supports such accesses since Linux 6.11, but on x86-64 they are compiled in only since
   * 6.14, and since 6.12.16 of the stable releases. Earlier kernels split them into two of 4 bytes.
   */
  boolean hasWideAccess() {
    return major > 6 || major == 6 && (minor >= 14 || minor == 12 && patch >= 16);
  }

  @Override
  public String toString() {
    return text;
  }
}

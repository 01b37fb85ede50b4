package org.hghca.vfio.kernel;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What this process may do, from {@code /proc/self/status}.
 *
 * @param user the effective user id
 * @param capabilities the effective capabilities, bit by number
 */
record Credentials(long user, long capabilities) {
  /** Numbers of linux/capability.h. */
  private static final int CAP_IPC_LOCK = 14;

  private static final int CAP_SYS_RAWIO = 17;
  private static final long NOBODY = 65534;

  /** Real, effective, saved and file system user id. */
  private static final Pattern USER = Pattern.compile("Uid:\\s+\\d+\\s+(\\d+)\\s.*");

  private static final Pattern CAPABILITIES = Pattern.compile("CapEff:\\s+([0-9a-f]{16})");

  static Credentials of(Machine machine) {
    long user = NOBODY;
    long capabilities = 0;
    for (String line : KernelFiles.lines(machine.file("/proc/self/status"))) {
      Matcher id = USER.matcher(line);
      Matcher effective = CAPABILITIES.matcher(line);
      if (id.matches()) {
        user = Long.parseLong(id.group(1));
      } else if (effective.matches()) {
        capabilities = Long.parseUnsignedLong(effective.group(1), 16);
      }
    }
    return new Credentials(user, capabilities);
  }

  boolean isRoot() {
    return user == 0;
  }

  /** Whether it is exempt from the limit of locked memory. */
  boolean mayLockAnything() {
    return (capabilities >> CAP_IPC_LOCK & 1) != 0;
  }

  /** Whether it may open a function that no IOMMU confines. */
  boolean mayUseNoiommu() {
    return (capabilities >> CAP_SYS_RAWIO & 1) != 0;
  }
}

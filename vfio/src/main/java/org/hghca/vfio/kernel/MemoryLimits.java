package org.hghca.vfio.kernel;

import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The limits of the memory that may be mapped for a card: all of it is pinned while it is mapped,
 * and the kernel counts it as locked.
 *
 * @param lockedBytes the soft limit RLIMIT_MEMLOCK; empty when there is none
 * @param exempt whether this process is exempt from the limit
 * @param entries how many mappings type1 allows a container; empty when it is not loaded
 */
record MemoryLimits(OptionalLong lockedBytes, boolean exempt, OptionalLong entries) {
  static final String ENTRY_LIMIT = "/sys/module/vfio_iommu_type1/parameters/dma_entry_limit";

  /** How to raise the limit of locked memory. */
  static final String RAISE =
      "ulimit -l unlimited (as root), for a user a line '<user> - memlock unlimited' in"
          + " /etc/security/limits.d/hghca.conf and a new login, for a service"
          + " LimitMEMLOCK=infinity, for a container --ulimit memlock=-1";

  private static final Pattern LOCKED =
      Pattern.compile("Max locked memory\\s+(\\d+|unlimited)\\s+(\\d+|unlimited)\\s+bytes");

  private static final long KIB = 1 << 10;
  private static final long MIB = 1 << 20;

  static MemoryLimits of(Machine machine) {
    OptionalLong locked = OptionalLong.empty();
    for (String line : KernelFiles.lines(machine.file("/proc/self/limits"))) {
      Matcher limit = LOCKED.matcher(line.strip());
      if (limit.matches() && !"unlimited".equals(limit.group(1))) {
        locked = OptionalLong.of(Long.parseLong(limit.group(1)));
      }
    }
    return new MemoryLimits(
        locked,
        Credentials.of(machine).mayLockAnything(),
        KernelFiles.number(machine.file(ENTRY_LIMIT)).stream().mapToLong(n -> n).findFirst());
  }

  /** The limit of locked memory, such as {@code RLIMIT_MEMLOCK is 8 MiB}. */
  String describeLocked() {
    return "RLIMIT_MEMLOCK is "
        + (lockedBytes.isPresent() ? size(lockedBytes.getAsLong()) : "unlimited")
        + (exempt ? ", and does not count with CAP_IPC_LOCK" : "");
  }

  /** How to raise the limit of mappings. */
  static String raiseEntries() {
    return "echo 1048576 | sudo tee " + ENTRY_LIMIT;
  }

  /** A number of bytes in MiB, or in KiB if it is not a whole number of MiB. */
  static String size(long bytes) {
    return bytes % MIB == 0 ? bytes / MIB + " MiB" : (bytes + KIB - 1) / KIB + " KiB";
  }
}

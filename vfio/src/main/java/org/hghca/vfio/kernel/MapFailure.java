package org.hghca.vfio.kernel;

import java.util.OptionalLong;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.linux.Errno;

/**
 * Why the kernel does not map memory for a device, with the mend.
 *
 * @param machine whose limits they are
 * @param way whether a process or a user has the limit
 */
record MapFailure(Machine machine, Way way) {
  private static final String LIMITS = "/proc/self/limits";
  private static final String LOCKED = "Max locked memory";

  /**
   * The failure.
   *
   * @param answer the negative error number
   * @param left how many more mappings the kernel takes, if it tells
   */
  VfioException of(long answer, long bytes, long iova, DmaAccess access, OptionalLong left) {
    String what = "cannot map 0x%x bytes for the device at I/O address 0x%x".formatted(bytes, iova);
    boolean full = left.isPresent() && left.getAsLong() == 0;
    if (Errno.ENOSPC.is(answer) || Errno.ENOMEM.is(answer) && full) {
      return Failures.of(
          what,
          answer,
          "the kernel takes no more mappings; as root, before opening: echo 1000000 >"
              + " /sys/module/vfio_iommu_type1/parameters/dma_entry_limit");
    }
    if (Errno.ENOMEM.is(answer)) {
      return Failures.of(
          what,
          answer,
          ("memory for a device stays in place and counts against RLIMIT_MEMLOCK, which is %s for"
                  + " %s; raise it: `ulimit -l unlimited`, LimitMEMLOCK=infinity of a systemd unit,"
                  + " or a line with memlock in /etc/security/limits.conf%s")
              .formatted(
                  limit(),
                  way == Way.IOMMUFD ? "all processes of this user together" : "this process",
                  left.isPresent()
                      ? " (dma_entry_limit is not the reason: %d mappings are left)"
                          .formatted(left.getAsLong())
                      : ""));
    }
    boolean refused =
        Errno.EFAULT.is(answer) || Errno.EINVAL.is(answer) || Errno.EOPNOTSUPP.is(answer);
    if (refused && access.writable()) {
      return new VfioException(
          Reason.INVALID,
          what
              + ": "
              + Errno.describe(answer)
              + ": is it memory of an ordinary file? Kernels from 6.5 do not let a device write"
              + " such memory: take a file of tmpfs or hugetlbfs, or memory of the protection"
              + " domain, which is from memfd");
    }
    return Failures.of(what, answer);
  }

  /** The soft limit in words, as the kernel writes it. */
  private String limit() {
    return KernelFiles.lines(machine.file(LIMITS)).stream()
        .filter(line -> line.startsWith(LOCKED))
        .map(line -> line.substring(LOCKED.length()).strip().split("\\s+")[0])
        .map(soft -> soft.equals("unlimited") ? soft : soft + " bytes")
        .findFirst()
        .orElse("unknown");
  }
}

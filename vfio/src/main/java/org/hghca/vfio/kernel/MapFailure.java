package org.hghca.vfio.kernel;

import java.util.OptionalLong;
import org.hghca.linux.LinuxErrno;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;

/**
 * Why the kernel does not map memory for a device, with the fix.
 *
 * @param machine with the limits
 * @param mode decides whether the limit is per process or per user
 */
record MapFailure(Machine machine, IommuMode mode) {
  /**
   * The failure.
   *
   * @param answer the negative error number
   * @param left how many more mappings the kernel accepts, if it reports that
   */
  VfioException of(long answer, long bytes, long iova, DmaAccess access, OptionalLong left) {
    String what = "cannot map 0x%x bytes for the device at I/O address 0x%x".formatted(bytes, iova);
    boolean full = left.isPresent() && left.getAsLong() == 0;
    if (LinuxErrno.ENOSPC.is(answer) || LinuxErrno.ENOMEM.is(answer) && full) {
      return KernelErrors.of(
          what,
          answer,
          "the kernel accepts no more mappings; fix, before opening: "
              + MemoryLimits.raiseEntries());
    }
    if (LinuxErrno.ENOMEM.is(answer)) {
      return KernelErrors.of(what, answer, noMemory(left));
    }
    if (LinuxErrno.EEXIST.is(answer)) {
      return KernelErrors.of(
          what,
          answer,
          "a process that has or had the same container mapped other memory there: the process that"
              + " passed the container on must reopen it");
    }
    boolean refused =
        LinuxErrno.EFAULT.is(answer)
            || LinuxErrno.EINVAL.is(answer)
            || LinuxErrno.EOPNOTSUPP.is(answer);
    if (refused && access.writable()) {
      return new VfioException(
          Reason.INVALID,
          what
              + ": "
              + LinuxErrno.describe(answer)
              + ": is it memory of an ordinary file? Kernels from 6.5 do not let a device write"
              + " such memory: use a file of tmpfs or hugetlbfs, or memory of the protection"
              + " domain, which is from memfd");
    }
    return KernelErrors.of(what, answer);
  }

  private String noMemory(OptionalLong left) {
    MemoryLimits limits = MemoryLimits.of(machine);
    String entries =
        left.isPresent()
            ? " (dma_entry_limit is not the reason: %d mappings are left)"
                .formatted(left.getAsLong())
            : "";
    if (limits.exempt() || limits.lockedBytes().isEmpty()) {
      return ("%s, so the machine, or the control group of this process, has no memory left; fix:"
              + " free some, or ask for less%s")
          .formatted(limits.describeLocked(), entries);
    }
    return "memory for a device is pinned and counts against a limit: %s for %s; fix: %s%s"
        .formatted(
            limits.describeLocked(),
            mode == IommuMode.IOMMUFD ? "all processes of this user together" : "this process",
            MemoryLimits.RAISE,
            entries);
  }
}

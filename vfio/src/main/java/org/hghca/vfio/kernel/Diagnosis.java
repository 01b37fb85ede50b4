package org.hghca.vfio.kernel;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;

/**
 * Explains why the kernel refused to open a function, and the fix: the error numbers tell neither.
 * It inspects the system only after a failure.
 */
final class Diagnosis {

  private Diagnosis() {}

  /**
   * A failure with its cause.
   *
   * @param device its state before the open
   * @param mode the way to open it
   * @param failure the failure of the step
   * @return the failure itself if no cause is found
   */
  static VfioException explain(
      Machine machine, PciDevice device, IommuMode mode, VfioException failure) {
    Optional<PciDevice> now = new PciBus(machine).find(device.address());
    if (now.isEmpty()) {
      return with(
          failure,
          Reason.NOT_FOUND,
          "%s is no longer there: it was unplugged, or has failed; fix: plug it in, then echo 1 |"
                  .formatted(device.address())
              + " sudo tee /sys/bus/pci/rescan");
    }
    Optional<VfioException> obstacle =
        new FunctionFindings(machine, now.get(), mode.word()).obstacle();
    if (obstacle.isPresent()) {
      return with(failure, obstacle.get().reason(), obstacle.get().getMessage());
    }
    return switch (failure.reason()) {
      case BUSY -> with(failure, Reason.BUSY, inUse(machine, now.get(), mode));
      case NO_PERMISSION -> with(failure, Reason.NO_PERMISSION, forbidden(machine));
      default -> failure;
    };
  }

  private static VfioException with(VfioException failure, Reason reason, String finding) {
    return new VfioException(reason, failure.getMessage() + "; " + finding, failure);
  }

  private static String inUse(Machine machine, PciDevice device, IommuMode mode) {
    // The last node is the one that only users of the function, or of its group, have open.
    Path node = mode.nodes(machine, device).getLast();
    List<String> holders = Holders.of(machine, List.of(node));
    return holders.isEmpty()
        ? "another process has %s open; fix: end it, which sudo fuser -v %s names"
            .formatted(node, node)
        : "%s has %s open; fix: end it".formatted(String.join(", ", holders), node);
  }

  private static String forbidden(Machine machine) {
    return IommuFindings.interrupts(machine)
        .filter(finding -> finding.level() == Finding.Level.PROBLEM)
        .map(Finding::message)
        .orElse(
            "the modes of the nodes permit it, so something else forbids it; fix: start a"
                + " container with --device for each node, give a service DeviceAllow= for each;"
                + " the kernel's log may say more: sudo dmesg | tail");
  }
}

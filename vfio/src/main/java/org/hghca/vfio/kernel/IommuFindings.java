package org.hghca.vfio.kernel;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** Whether an IOMMU confines what cards reach, and what interrupts they raise. */
final class IommuFindings {
  /** How an IOMMU is switched on. */
  static final String SWITCH_ON =
      "switch VT-d or AMD-Vi on in the firmware and boot with intel_iommu=on (Intel; AMD needs no"
          + " option, but not amd_iommu=off)";

  private static final String SUBJECT = "IOMMU";
  private static final List<String> MODULES = List.of("vfio_iommu_type1", "iommufd");

  /** How /proc/interrupts names what goes through a remapping unit, such as IR-PCI-MSI. */
  private static final Pattern REMAPPED = Pattern.compile(".*\\bIR-.*");

  private IommuFindings() {}

  /** The units that the kernel drives, such as dmar0. */
  static List<String> units(Machine machine) {
    return KernelFiles.names(machine.file("/sys/class/iommu"));
  }

  /**
   * Whether a card can be kept from raising any interrupt of the machine; empty without an IOMMU,
   * where nothing is kept from anything.
   */
  static Optional<Finding> interrupts(Machine machine) {
    if (units(machine).isEmpty()) {
      return Optional.empty();
    }
    boolean remapped =
        KernelFiles.lines(machine.file("/proc/interrupts")).stream()
            .anyMatch(line -> REMAPPED.matcher(line).matches());
    if (remapped) {
      return Optional.of(Finding.ok(SUBJECT, "interrupts are remapped"));
    }
    List<String> allowing =
        MODULES.stream()
            .filter(
                module ->
                    KernelFiles.text(machine.file(parameter(module)))
                        .filter("Y"::equals)
                        .isPresent())
            .toList();
    if (!allowing.isEmpty()) {
      return Optional.of(
          Finding.note(
              SUBJECT,
              "interrupts are not remapped, and allow_unsafe_interrupts lets cards be used all the"
                  + " same ("
                  + String.join(", ", allowing)
                  + ")",
              "a hostile card could raise any interrupt of this machine",
              ""));
    }
    return Optional.of(
        Finding.problem(
            SUBJECT,
            "interrupts are not remapped",
            "a card could raise any interrupt of this machine, so the kernel refuses to hand it out"
                + " (EPERM)",
            "switch interrupt remapping on in the firmware, or trust the card: echo Y | sudo tee "
                + parameter("vfio_iommu_type1")
                + "; for good: echo 'options vfio_iommu_type1 allow_unsafe_interrupts=1' | sudo tee"
                + " /etc/modprobe.d/hghca.conf"));
  }

  private static String parameter(String module) {
    return "/sys/module/" + module + "/parameters/allow_unsafe_interrupts";
  }
}

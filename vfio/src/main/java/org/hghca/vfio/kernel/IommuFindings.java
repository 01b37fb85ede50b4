package org.hghca.vfio.kernel;

import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Whether an IOMMU restricts the memory accesses and the interrupts of cards. */
final class IommuFindings {
  private static final String SUBJECT = "IOMMU";
  private static final List<String> MODULES = List.of("vfio_iommu_type1", "iommufd");

  /** The name in /proc/interrupts of interrupts that are remapped, such as IR-PCI-MSI. */
  private static final Pattern REMAPPED = Pattern.compile(".*\\bIR-.*");

  private IommuFindings() {}

  /** The units that the kernel drives, such as dmar0. */
  private static List<String> names(Machine machine) {
    return KernelFiles.names(machine.file("/sys/class/iommu"));
  }

  /** Whether the kernel hands out functions that no IOMMU confines. */
  static boolean unsafeMode(Machine machine) {
    return KernelFiles.text(machine.file(Vfio.NOIOMMU_MODE)).filter("Y"::equals).isPresent();
  }

  /** Whether there is one that the kernel uses. */
  static Finding units(Machine machine) {
    List<String> names = names(machine);
    if (!names.isEmpty()) {
      int groups = KernelFiles.names(machine.file("/sys/kernel/iommu_groups")).size();
      return Finding.ok(
          SUBJECT, "%s in use, %d groups".formatted(String.join(", ", names), groups));
    }
    String found = "no IOMMU in use" + because(machine);
    if (unsafeMode(machine)) {
      return Finding.note(
          SUBJECT, found, "cards can be used in noiommu mode only", switchOn(machine));
    }
    return Finding.problem(
        SUBJECT,
        found,
        "without one the kernel hands no function to a process",
        switchOn(machine)
            + (Files.exists(machine.file(Vfio.NOIOMMU_MODE))
                ? "; or, with a card that is trusted with all memory, echo Y | sudo tee "
                    + Vfio.NOIOMMU_MODE
                : ""));
  }

  private static String because(Machine machine) {
    if (!optionsAgainst(machine).isEmpty()) {
      return ": booted with " + String.join(" ", optionsAgainst(machine));
    }
    if (firmwareHasOne(machine)) {
      return ": the firmware has one, but the kernel does not use it";
    }
    return isVirtual(machine)
        ? ": this virtual machine has none"
        : ": the firmware reports none (no ACPI table DMAR or IVRS)";
  }

  /** How to switch the IOMMU on, as far as the machine shows why it is off. */
  static String switchOn(Machine machine) {
    if (!optionsAgainst(machine).isEmpty()) {
      return "remove %s from the kernel's command line and reboot"
          .formatted(String.join(" and ", optionsAgainst(machine)));
    }
    if (firmwareHasOne(machine)) {
      return "add intel_iommu=on (AMD needs no option) to GRUB_CMDLINE_LINUX in /etc/default/grub,"
          + " sudo update-grub, reboot";
    }
    return isVirtual(machine)
        ? "start the virtual machine with one, QEMU: -machine q35,kernel-irqchip=split"
            + " -device intel-iommu,intremap=on,caching-mode=on"
        : "switch VT-d (Intel) or AMD-Vi on in the firmware's setup, and boot with intel_iommu=on"
            + " (AMD needs no option)";
  }

  private static boolean firmwareHasOne(Machine machine) {
    return Stream.of("DMAR", "IVRS")
        .anyMatch(table -> Files.exists(machine.file("/sys/firmware/acpi/tables/" + table)));
  }

  private static List<String> optionsAgainst(Machine machine) {
    return KernelFiles.lines(machine.file("/proc/cmdline")).stream()
        .flatMap(line -> Arrays.stream(line.split("\\s+")))
        .filter(Set.of("intel_iommu=off", "amd_iommu=off", "iommu=off")::contains)
        .toList();
  }

  private static boolean isVirtual(Machine machine) {
    return KernelFiles.lines(machine.file("/proc/cpuinfo")).stream()
        .anyMatch(line -> line.startsWith("flags") && (line + " ").contains(" hypervisor "));
  }

  /**
   * Whether a card can be prevented from raising any interrupt of the machine; empty without an
   * IOMMU, where there is no protection.
   */
  static Optional<Finding> interrupts(Machine machine) {
    if (names(machine).isEmpty()) {
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
              "interrupts are not remapped, and allow_unsafe_interrupts lets cards be used"
                  + " nevertheless ("
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
                + "; permanently: echo 'options vfio_iommu_type1 allow_unsafe_interrupts=1' | sudo"
                + " tee /etc/modprobe.d/hghca.conf"));
  }

  private static String parameter(String module) {
    return "/sys/module/" + module + "/parameters/allow_unsafe_interrupts";
  }
}

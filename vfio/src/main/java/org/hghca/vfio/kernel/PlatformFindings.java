package org.hghca.vfio.kernel;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** The findings about the machine, its kernel and its VFIO, independent of any card. */
final class PlatformFindings {
  private static final Pattern CONTAINER =
      Pattern.compile(".*[/:-](docker|kubepods|libpod|lxc|containerd)[-/:.].*");

  /** Secure Boot as the firmware reports it: four bytes of attributes, then 1 where it is on. */
  private static final String SECURE_BOOT =
      "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";

  private final Machine machine;
  private final List<Finding> findings = new ArrayList<>();

  PlatformFindings(Machine machine) {
    this.machine = machine;
    platform();
    findings.add(IommuFindings.units(machine));
    IommuFindings.interrupts(machine).ifPresent(findings::add);
    noiommu();
    driver();
    api();
    lockdown();
    container();
  }

  List<Finding> findings() {
    return List.copyOf(findings);
  }

  private boolean exists(String name) {
    return Files.exists(machine.file(name));
  }

  private String text(String name, String otherwise) {
    return KernelFiles.text(machine.file(name)).orElse(otherwise);
  }

  private String release() {
    return text("/proc/sys/kernel/osrelease", "of unknown release");
  }

  private void platform() {
    String system = text("/proc/sys/kernel/ostype", System.getProperty("os.name"));
    // Kernels before 6.1 do not report it.
    String processor = text("/proc/sys/kernel/arch", System.getProperty("os.arch"));
    String found = "%s %s on %s".formatted(system, release(), processor);
    if ("Linux".equals(system) && Set.of("x86_64", "amd64").contains(processor)) {
      findings.add(Finding.ok("platform", found));
    } else {
      findings.add(
          Finding.problem(
              "platform",
              found,
              "the driver supports cards only on Linux on x86-64",
              "use such a machine; the software HCA (model:) is there for the rest"));
    }
  }

  private void noiommu() {
    if (IommuFindings.unsafeMode(machine)) {
      findings.add(
          Finding.note(
              "noiommu",
              "unsafe noiommu mode is on",
              "functions without an IOMMU are handed out, and reach the memory of the whole"
                  + " machine",
              "echo N | sudo tee " + Vfio.NOIOMMU_MODE));
    } else {
      findings.add(
          Finding.ok(
              "noiommu",
              exists(Vfio.NOIOMMU_MODE)
                  ? "unsafe noiommu mode is off"
                  : "the kernel has no unsafe noiommu mode, or vfio is not loaded"));
    }
  }

  private void driver() {
    if (exists("/sys/bus/pci/drivers/" + Vfio.DRIVER)) {
      findings.add(Finding.ok("vfio", "the driver vfio-pci is available"));
      return;
    }
    String why = "it hands a function to a process";
    if (hasModule()) {
      findings.add(
          Finding.problem(
              "vfio",
              "the driver vfio-pci is not loaded",
              why,
              "sudo modprobe vfio-pci; permanently: echo vfio-pci | sudo tee"
                  + " /etc/modules-load.d/hghca.conf"));
    } else {
      findings.add(
          Finding.problem(
              "vfio",
              "the driver vfio-pci is missing, and the kernel %s has no module of it"
                  .formatted(release()),
              why,
              "use a kernel with CONFIG_VFIO_PCI, as distributions ship"));
    }
  }

  private boolean hasModule() {
    Path modules = machine.file("/lib/modules/" + release() + "/modules.dep");
    return KernelFiles.lines(modules).stream().anyMatch(line -> line.contains("/vfio-pci.ko"));
  }

  private void api() {
    boolean iommufd = exists(Vfio.IOMMUFD_NODE);
    boolean group = exists(Vfio.CONTAINER_NODE);
    if (iommufd && exists("/dev/vfio/devices")) {
      findings.add(
          Finding.ok(
              "API",
              "iommufd: %s and /dev/vfio/devices are available, and preferred"
                  .formatted(Vfio.IOMMUFD_NODE)));
    } else if (group) {
      findings.add(
          Finding.ok(
              "API",
              "group and container: %s is available; no /dev/vfio/devices, which Linux has from 6.6"
                      .formatted(Vfio.CONTAINER_NODE)
                  + " with CONFIG_VFIO_DEVICE_CDEV"));
    } else {
      findings.add(
          Finding.problem(
              "API",
              "neither %s nor %s exists".formatted(Vfio.CONTAINER_NODE, Vfio.IOMMUFD_NODE),
              "functions are opened through one of them",
              hasModule()
                  ? "sudo modprobe -a vfio-pci vfio_iommu_type1"
                  : "use a kernel with CONFIG_VFIO_PCI and CONFIG_VFIO_IOMMU_TYPE1"));
    }
  }

  private void lockdown() {
    String mode = text("/sys/kernel/security/lockdown", "[none]");
    String secureBoot = text(SECURE_BOOT, "").endsWith("\u0001") ? "Secure Boot is on" : "";
    if (mode.contains("[none]")) {
      findings.add(
          Finding.ok(
              "lockdown",
              "the kernel is not locked down" + (secureBoot.isEmpty() ? "" : "; " + secureBoot)));
    } else {
      findings.add(
          Finding.note(
              "lockdown",
              "the kernel is locked down (%s)%s"
                  .formatted(mode, secureBoot.isEmpty() ? "" : "; " + secureBoot),
              "VFIO works; unsigned modules, such as a driver built from source, are not loaded",
              ""));
    }
  }

  private void container() {
    boolean inside =
        exists("/.dockerenv")
            || exists("/run/.containerenv")
            || text("/proc/1/cgroup", "")
                .lines()
                .anyMatch(line -> CONTAINER.matcher(line).matches());
    if (inside) {
      findings.add(
          Finding.note(
              "container",
              "this process runs in a container",
              "it has only the nodes and limits that it was started with",
              "docker run --device /dev/vfio --device /dev/iommu --ulimit memlock=-1 ..., after"
                  + " binding the card on the host"));
    } else {
      findings.add(Finding.ok("container", "none is detected around this process"));
    }
  }
}

package org.hghca.vfio.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import org.hghca.vfio.Locator;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.kernel.Finding.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every finding, on a machine that is set up correctly and on one that is not. */
class SystemReportTest {
  private static final String CARD = "0000:03:00.0";
  private static final long NEED = 5 << 20;
  private static final long NO_CAPABILITIES = 0;
  private static final long CAP_IPC_LOCK = 1 << 14;
  private static final long CAP_SYS_RAWIO = 1 << 17;

  @TempDir Path root;
  private FakeMachine machine;

  /** A machine on which nothing needs a fix. */
  @BeforeEach
  void goodMachine() {
    machine = new FakeMachine(root);
    machine.user(1000, NO_CAPABILITIES);
    machine.text("/proc/sys/kernel/ostype", "Linux\n");
    machine.text("/proc/sys/kernel/osrelease", "6.12.9-amd64\n");
    machine.text("/proc/sys/kernel/arch", "x86_64\n");
    machine.text("/proc/cmdline", "root=/dev/sda1 intel_iommu=on\n");
    machine.text("/proc/cpuinfo", "flags\t\t: fpu vmx\n");
    machine.directory("/sys/class/iommu/dmar0").directory("/sys/class/iommu/dmar1");
    machine.text("/proc/interrupts", "  9: 1 0 IR-IO-APIC 9-fasteoi acpi\n");
    machine.text(Vfio.NOIOMMU_MODE, "N\n");
    machine.text("/sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
    machine.text("/proc/1/cgroup", "0::/init.scope\n");
    locked("unlimited");
    machine.text(MemoryLimits.ENTRY_LIMIT, "65535\n");
    hugePages(512, 0);
    machine.readyCard(CARD).iommufd(CARD);
    machine.text(
        FakeMachine.real(CARD) + "/resource",
        "0x00000000fe000000 0x00000000fe0fffff 0x0000000000140204\n");
  }

  @AfterEach
  void forgetIds() {
    System.clearProperty(KnownIds.PROPERTY);
  }

  private void locked(String soft) {
    machine.text(
        "/proc/self/limits",
        """
        Limit                     Soft Limit           Hard Limit           Units
        Max processes             96365                96365                processes
        Max locked memory         %s              unlimited              bytes
        """
            .formatted(soft));
  }

  private void hugePages(int free, int reserved) {
    String directory = "/sys/kernel/mm/hugepages/hugepages-2048kB/";
    machine.text(directory + "free_hugepages", free + "\n");
    machine.text(directory + "resv_hugepages", reserved + "\n");
  }

  private List<Finding> findings(String subject) {
    return SystemReport.of(machine, NEED).findings().stream()
        .filter(finding -> finding.subject().equals(subject))
        .toList();
  }

  private void assertFound(String subject, Level level, String... texts) {
    assertThat(findings(subject))
        .anySatisfy(
            finding -> {
              assertThat(finding.level()).isEqualTo(level);
              assertThat(finding.message()).contains(texts);
              assertThat(finding.fix().isEmpty()).isEqualTo(level == Level.OK);
            });
  }

  @Test
  void correctMachineHasNothingToFix() {
    SystemReport report = SystemReport.of(machine, NEED);

    assertThat(report.findings()).allMatch(finding -> finding.level() == Level.OK);
    assertThat(report.problems()).isZero();
    assertThat(report.findings())
        .extracting(Finding::subject)
        .startsWith("platform", "IOMMU", "IOMMU", "noiommu", "vfio", "API")
        .endsWith(CARD);
  }

  @Test
  void bareMachineHasFindingsAndNoFailure(@TempDir Path empty) {
    SystemReport report = SystemReport.of(new FakeMachine(empty), NEED);

    assertThat(report.problems()).isEqualTo(3);
  }

  @Test
  void platform() {
    assertFound("platform", Level.OK, "Linux 6.12.9-amd64 on x86_64");

    machine.text("/proc/sys/kernel/arch", "aarch64\n");
    assertFound("platform", Level.PROBLEM, "on aarch64", "only on Linux on x86-64");
    machine.text("/proc/sys/kernel/arch", "x86_64\n");
    machine.text("/proc/sys/kernel/ostype", "FreeBSD\n");
    assertFound("platform", Level.PROBLEM, "FreeBSD");
  }

  private void withoutIommu() {
    machine.delete("/sys/class/iommu/dmar0").delete("/sys/class/iommu/dmar1");
    machine.text("/proc/cmdline", "root=/dev/sda1\n");
  }

  @Test
  void iommu() {
    assertFound("IOMMU", Level.OK, "dmar0, dmar1 in use, 1 groups");

    withoutIommu();
    assertFound("IOMMU", Level.PROBLEM, "the firmware reports none", "VT-d", "AMD-Vi");
  }

  @ParameterizedTest
  @ValueSource(strings = {"DMAR", "IVRS"})
  void iommuThatTheKernelDoesNotUse(String table) {
    withoutIommu();
    machine.text("/sys/firmware/acpi/tables/" + table, "");

    assertFound("IOMMU", Level.PROBLEM, "the firmware has one", "intel_iommu=on", "update-grub");
  }

  @ParameterizedTest
  @ValueSource(strings = {"intel_iommu=off", "amd_iommu=off", "iommu=off"})
  void iommuDisabledOnTheCommandLine(String option) {
    withoutIommu();
    machine.text("/sys/firmware/acpi/tables/DMAR", "");
    machine.text("/proc/cmdline", "root=/dev/sda1 " + option + " quiet\n");

    assertFound("IOMMU", Level.PROBLEM, "booted with " + option, "remove " + option + " from");
  }

  @Test
  void iommuMissingInAVirtualMachine() {
    withoutIommu();
    machine.text("/proc/cpuinfo", "flags\t\t: fpu hypervisor\n");

    assertFound("IOMMU", Level.PROBLEM, "this virtual machine has none", "-device intel-iommu");
  }

  @Test
  void noiommuModeReplacesAnIommu() {
    withoutIommu();
    assertFound("IOMMU", Level.PROBLEM, "echo Y | sudo tee " + Vfio.NOIOMMU_MODE);

    machine.text(Vfio.NOIOMMU_MODE, "Y\n");
    assertFound("IOMMU", Level.NOTE, "noiommu mode only");
    assertFound("noiommu", Level.NOTE, "is on", "memory of the whole machine", "echo N");
  }

  @Test
  void noiommuMode() {
    assertFound("noiommu", Level.OK, "is off");

    machine.delete(Vfio.NOIOMMU_MODE);
    assertFound("noiommu", Level.OK, "no unsafe noiommu mode");
  }

  @Test
  void interrupts() {
    assertFound("IOMMU", Level.OK, "interrupts are remapped");

    machine.text("/proc/interrupts", "  9: 1 0 IO-APIC 9-fasteoi acpi\n");
    assertFound(
        "IOMMU",
        Level.PROBLEM,
        "interrupts are not remapped",
        "EPERM",
        "/sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts");
  }

  @ParameterizedTest
  @ValueSource(strings = {"vfio_iommu_type1", "iommufd"})
  void interruptsWithoutRemappingThatAreAllowed(String module) {
    String parameter = "/sys/module/" + module + "/parameters/allow_unsafe_interrupts";
    machine.text("/proc/interrupts", "");
    machine.text(parameter, "N\n");
    assertFound("IOMMU", Level.PROBLEM, "interrupts are not remapped");

    machine.text(parameter, "Y\n");
    assertThat(findings("IOMMU")).extracting(Finding::level).containsExactly(Level.OK, Level.NOTE);
  }

  @Test
  void driver() {
    assertFound("vfio", Level.OK, "vfio-pci is available");

    machine.delete("/sys/bus/pci/drivers/vfio-pci/" + CARD);
    machine.delete("/sys/bus/pci/drivers/vfio-pci");
    assertFound("vfio", Level.PROBLEM, "has no module of it", "CONFIG_VFIO_PCI");

    machine.text(
        "/lib/modules/6.12.9-amd64/modules.dep", "kernel/drivers/vfio/pci/vfio-pci.ko.xz: a b\n");
    assertFound("vfio", Level.PROBLEM, "not loaded", "sudo modprobe vfio-pci", "modules-load.d");
  }

  @Test
  void api() {
    assertFound("API", Level.OK, "iommufd", "preferred");

    machine.delete("/dev/vfio/devices/vfio3").delete("/dev/vfio/devices");
    assertFound("API", Level.OK, "group and container", "6.6");

    machine.delete("/dev/vfio/vfio");
    assertFound("API", Level.PROBLEM, "neither", "CONFIG_VFIO_IOMMU_TYPE1");
    machine.text("/lib/modules/6.12.9-amd64/modules.dep", "kernel/drivers/vfio/pci/vfio-pci.ko:\n");
    assertFound("API", Level.PROBLEM, "sudo modprobe -a vfio-pci vfio_iommu_type1");
  }

  @Test
  void lockdown() {
    assertFound("lockdown", Level.OK, "not locked down");
    machine.delete("/sys/kernel/security/lockdown");
    assertFound("lockdown", Level.OK, "not locked down");

    machine.text("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
    machine.text(
        "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c",
        "\u0006\u0000\u0000\u0000\u0001");
    assertThat(findings("lockdown"))
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.level()).isEqualTo(Level.NOTE);
              assertThat(finding.found()).contains("[integrity]", "Secure Boot is on");
              assertThat(finding.why()).contains("VFIO works", "signed");
            });
  }

  @Test
  void container() {
    assertFound("container", Level.OK, "none is detected");

    machine.text("/proc/1/cgroup", "12:devices:/docker/0123456789ab\n");
    assertFound("container", Level.NOTE, "--device /dev/vfio", "--ulimit memlock=-1");
    machine.text("/proc/1/cgroup", "0::/\n").text("/.dockerenv", "");
    assertFound("container", Level.NOTE, "in a container");
    machine.delete("/.dockerenv").text("/run/.containerenv", "");
    assertFound("container", Level.NOTE, "in a container");
  }

  @Test
  void lockedMemory() {
    assertFound("memlock", Level.OK, "RLIMIT_MEMLOCK is unlimited");

    locked("8388608");
    assertFound(
        "memlock",
        Level.NOTE,
        "is 8 MiB",
        "up to 5 MiB",
        "3 MiB are left",
        "LimitMEMLOCK=infinity");
    locked("65536");
    assertFound("memlock", Level.PROBLEM, "is 64 KiB", "up to 5 MiB", "ulimit -l unlimited");

    machine.user(0, CAP_IPC_LOCK);
    assertFound("memlock", Level.OK, "does not count");
  }

  @Test
  void mappings() {
    assertFound("mappings", Level.OK, "dma_entry_limit is 65535");

    machine.text(MemoryLimits.ENTRY_LIMIT, "100\n");
    assertFound("mappings", Level.NOTE, "is 100", "65535", "sudo tee " + MemoryLimits.ENTRY_LIMIT);
    machine.delete(MemoryLimits.ENTRY_LIMIT);
    assertFound("mappings", Level.OK, "not loaded");
  }

  @Test
  void hugePages() {
    assertFound("huge pages", Level.OK, "512 of 2 MiB");

    hugePages(4, 4);
    assertFound("huge pages", Level.NOTE, "none of 2 MiB", "nr_hugepages");
  }

  @Test
  void cards() {
    assertThat(findings("cards")).isEmpty();
    assertFound(CARD, Level.OK, "[10ee:9038] class 020700", "BARs of 1 MiB, -, -, -, -, -");

    machine.delete("/sys/bus/pci/devices/" + CARD);
    assertFound(
        "cards", Level.NOTE, "no function is bound", "lspci -Dnn", "--ids=<vendor>:<device>");
  }

  @Test
  void functionsThatMayBeCardsAreExamined() {
    machine
        .function("0000:04:00.0", "1234:4843", "020700")
        .function("0000:05:00.0", "15b3:1017", "020700")
        .driver("0000:05:00.0", "mlx5_core")
        .function("0000:06:00.0", "10ee:9039", "058000")
        .driver("0000:06:00.0", "xdma");
    assertThat(SystemReport.unboundCards(machine))
        .extracting(PciDevice::address)
        .containsExactly("0000:04:00.0");
    assertFound("0000:04:00.0", Level.PROBLEM, "no driver", "sudo hghca bind 0000:04:00.0");

    System.setProperty(KnownIds.PROPERTY, "10ee:9039");
    assertThat(SystemReport.unboundCards(machine))
        .extracting(PciDevice::address)
        .containsExactly("0000:04:00.0", "0000:06:00.0");
    assertFound("0000:06:00.0", Level.PROBLEM, "the driver xdma");
  }

  @Test
  void onlyTheFunctionOfAGivenLocatorIsExamined() {
    machine.function("0000:06:00.0", "10ee:9039", "058000").driver("0000:06:00.0", "xdma");

    SystemReport report =
        SystemReport.of(machine, NEED, Locator.parse("pci:06:00.0?iommu=group&as=r1"));
    assertThat(report.findings())
        .extracting(Finding::subject)
        .contains("platform", "0000:06:00.0")
        .doesNotContain(CARD);
    assertThatThrownBy(() -> SystemReport.of(machine, NEED, Locator.parse("pci:07:00.0")))
        .isInstanceOf(VfioException.class)
        .hasMessageContaining("0000:07:00.0");
  }

  @Test
  void driverOfTheFunction() {
    assertFound(CARD, Level.OK, "bound to the driver vfio-pci");

    machine.driver(CARD, "hgrnic");
    assertThat(SystemReport.of(machine, NEED, Locator.parse("pci:" + CARD)).problems())
        .isEqualTo(1);
  }

  @Test
  void groupOfTheFunction() {
    assertFound(CARD, Level.OK, "IOMMU group 17 is viable: no other function is in it");

    machine.function("0000:03:00.1", "10ee:9039", "020000").group(17, "0000:03:00.1");
    assertFound(CARD, Level.OK, "IOMMU group 17 is viable: 0000:03:00.1 has no driver");
    machine.driver("0000:03:00.1", "xhci_hcd");
    assertFound(
        CARD,
        Level.PROBLEM,
        "IOMMU group 17 of 0000:03:00.0 is not viable: 0000:03:00.1 has the driver xhci_hcd",
        "sudo hghca bind 0000:03:00.1");
    machine.delete(FakeMachine.real(CARD) + "/iommu_group");
    assertFound(CARD, Level.PROBLEM, "has no IOMMU group");
  }

  @Test
  void nodesOfTheFunction() {
    Path device = machine.file("/dev/vfio/devices/vfio3");
    assertFound(CARD, Level.OK, "mode 'iommufd', through " + machine.file("/dev/iommu"));

    machine.forbid("/dev/vfio/devices/vfio3");
    assertFound(CARD, Level.OK, "mode 'group'");
    machine.forbid("/dev/vfio/17");
    assertFound(
        CARD,
        Level.PROBLEM,
        "no permission to read and write " + device,
        "sudo chown alice " + device,
        "60-hghca-vfio.rules",
        "sudo usermod -aG vfio alice");
    machine.delete("/dev/vfio/devices/vfio3").delete("/dev/vfio/17");
    assertFound(CARD, Level.PROBLEM, machine.file("/dev/vfio/17") + " does not exist");
  }

  @Test
  void modeThatTheKernelLacks() {
    machine.delete(FakeMachine.real(CARD) + "/vfio-dev/vfio3");
    Locator locator = Locator.parse("pci:" + CARD + "?iommu=iommufd");

    assertThat(SystemReport.of(machine, NEED, locator).findings())
        .anyMatch(
            finding ->
                finding.level() == Level.PROBLEM
                    && finding.message().contains("CONFIG_VFIO_DEVICE_CDEV")
                    && finding.fix().contains("iommu=group"));
  }

  @Test
  void functionWithoutIommu() {
    machine.text("/sys/kernel/iommu_groups/17/name", "vfio-noiommu\n");
    machine.node("/dev/vfio/noiommu-17");
    assertFound(CARD, Level.PROBLEM, "in noiommu mode", "CAP_SYS_RAWIO", "run as root");

    machine.user(0, CAP_SYS_RAWIO);
    assertFound(CARD, Level.NOTE, "in noiommu mode", "any memory");
    assertThat(
            SystemReport.of(machine, NEED, Locator.parse("pci:" + CARD + "?iommu=group"))
                .findings())
        .anyMatch(
            finding ->
                finding.level() == Level.PROBLEM
                    && finding.message().contains("iommu=group needs an IOMMU"));
  }

  @Test
  void functionBehindAnIommuIsNotOpenedWithoutIt() {
    assertThat(
            SystemReport.of(machine, NEED, Locator.parse("pci:" + CARD + "?iommu=noiommu"))
                .findings())
        .anyMatch(
            finding ->
                finding.level() == Level.PROBLEM
                    && finding.message().contains("leave iommu=noiommu out"));
  }

  @Test
  void resetOfTheFunction() {
    assertFound(CARD, Level.OK, "can be reset: flr, bus");

    machine.text(FakeMachine.real(CARD) + "/reset_method", "");
    assertFound(CARD, Level.NOTE, "has no reset", "assumeClean=true");
  }

  @Test
  void processThatHasTheFunctionOpen() {
    machine.process(4711, "java", "/dev/vfio/devices/vfio3");
    assertFound(CARD, Level.NOTE, "process 4711 (java) has it open");

    machine.process(4711, "java", "/dev/vfio/devices/vfio4");
    assertThat(findings(CARD)).allMatch(finding -> finding.level() == Level.OK);
  }
}

package org.hghca.vfio.kernel;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.hghca.vfio.Locator;
import org.hghca.vfio.VfioException;

/**
 * Whether a system is ready for cards, with the fixes: the machine first, then its functions by
 * address.
 */
public record SystemReport(List<Finding> findings) {
  /** Network controller, InfiniBand. */
  private static final FunctionSelector INFINIBAND = new FunctionSelector.OfClass("0207");

  public SystemReport {
    findings = List.copyOf(findings);
  }

  /**
   * Checks a machine and every function that is bound to vfio-pci or may be a card.
   *
   * @param need bytes that the driver of a card keeps mapped for itself
   */
  public static SystemReport of(Machine machine, long need) {
    List<Finding> findings = machineWide(machine, need);
    List<PciDevice> devices =
        new PciBus(machine)
            .devices().stream()
                .filter(device -> device.isBoundToVfio() || mayBeCard(device))
                .toList();
    if (devices.isEmpty()) {
      findings.add(
          Finding.note(
              "cards",
              "no function is bound to vfio-pci, and none looks like a card",
              "each board sets its own ids",
              "lspci -Dnn shows what there is; then sudo hghca bind <address>;"
                  + " --ids=<vendor>:<device> sets the id of cards, in a program -D%s="
                      .formatted(KnownIds.PROPERTY)));
    }
    devices.forEach(device -> function(machine, device, IommuMode.AUTO, findings));
    return new SystemReport(findings);
  }

  /**
   * Checks a machine and one of its functions.
   *
   * @throws VfioException when the locator selects none
   */
  public static SystemReport of(Machine machine, long need, Locator locator) {
    List<Finding> findings = machineWide(machine, need);
    function(
        machine,
        new PciBus(machine).select(FunctionSelector.parse(locator.name())),
        locator.parameter(IommuMode.PARAMETER).orElse(IommuMode.AUTO),
        findings);
    return new SystemReport(findings);
  }

  /**
   * Functions that may be cards but are not bound to vfio-pci: those with an id that the user has
   * specified, and InfiniBand controllers without a driver.
   */
  public static List<PciDevice> unboundCards(Machine machine) {
    return new PciBus(machine)
        .devices().stream().filter(device -> !device.isBoundToVfio() && mayBeCard(device)).toList();
  }

  private static boolean mayBeCard(PciDevice device) {
    return KnownIds.configured().contains(device.id())
        || INFINIBAND.matches(device) && device.driver().isEmpty();
  }

  private static List<Finding> machineWide(Machine machine, long need) {
    List<Finding> findings = new ArrayList<>(new PlatformFindings(machine).findings());
    findings.addAll(new MemoryFindings(machine, need).findings());
    return findings;
  }

  private static void function(
      Machine machine, PciDevice device, String wanted, List<Finding> findings) {
    findings.add(
        Finding.ok(
            device.address(),
            "%s, BARs of %s%s"
                .formatted(
                    device,
                    device.barSizes().stream()
                        .map(size -> size == 0 ? "-" : MemoryLimits.size(size))
                        .collect(Collectors.joining(", ")),
                    device.numaNode().isPresent()
                        ? ", NUMA node " + device.numaNode().getAsInt()
                        : "")));
    FunctionFindings function = new FunctionFindings(machine, device, wanted);
    findings.addAll(function.findings());
    List<Path> nodes = function.mode().nodes(machine, device);
    List<String> holders = Holders.of(machine, nodes.subList(1, nodes.size()));
    if (!holders.isEmpty()) {
      findings.add(
          Finding.note(
              device.address(),
              String.join(", ", holders) + " has it open",
              "a function, or its IOMMU group, belongs to one process at a time",
              "end it before you open the card"));
    }
  }

  /** Number of findings that prevent the use of a card. */
  public long problems() {
    return findings.stream().filter(finding -> finding.level() == Finding.Level.PROBLEM).count();
  }
}

package org.hghca.vfio.kernel;

import java.util.List;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctionProvider;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;

/**
 * Functions that the Linux kernel's VFIO hands to user space: {@code pci:0000:03:00.0}, or {@code
 * pci:id=10ee:9038} and {@code pci:class=0207} where only one matches. Finds them in sysfs and says
 * what keeps one from being opened.
 */
public final class KernelProvider implements PciFunctionProvider {
  private final Machine machine;
  private final PciBus bus;

  public KernelProvider() {
    this(Machine.local());
  }

  KernelProvider(Machine machine) {
    this.machine = machine;
    this.bus = new PciBus(machine);
  }

  @Override
  public String scheme() {
    return "pci";
  }

  /**
   * The functions that are bound to vfio-pci; only those with a {@link KnownIds known id} when the
   * user has named any.
   */
  @Override
  public List<Locator> enumerate() {
    List<String> ids = KnownIds.configured();
    return bus.devices().stream()
        .filter(device -> device.isBoundToVfio() && (ids.isEmpty() || ids.contains(device.id())))
        .map(device -> Locator.parse("pci:" + device.address()))
        .toList();
  }

  @Override
  public Locator resolve(Locator locator) {
    return new Locator(locator.scheme(), selected(locator).address(), locator.parameters());
  }

  @Override
  public PciFunction open(Locator locator) {
    PciDevice device = selected(locator);
    FunctionFindings findings =
        new FunctionFindings(machine, device, locator.parameter(Way.PARAMETER).orElse(Way.AUTO));
    if (findings.obstacle().isPresent()) {
      throw findings.obstacle().get();
    }
    throw new VfioException(
        Reason.UNSUPPORTED,
        "%s is ready for VFIO, but this version of hghca cannot open kernel functions yet; use the"
                .formatted(device.address())
            + " software HCA, model:");
  }

  private PciDevice selected(Locator locator) {
    return bus.select(FunctionSelector.parse(locator.name()));
  }
}

package org.hghca.vfio.kernel;

import java.util.List;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctionProvider;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Functions that the Linux kernel's VFIO hands to user space: {@code pci:0000:03:00.0}, or {@code
 * pci:id=10ee:9038} and {@code pci:class=0207} where only one matches. Finds them in sysfs and says
 * what keeps one from being opened.
 */
public final class KernelProvider implements PciFunctionProvider {
  private static final Logger LOG = LoggerFactory.getLogger(KernelProvider.class);

  private final Machine machine;
  private final PciBus bus;

  /** Null for that of this machine, which binds the system's calls when it is first used. */
  private final KernelSystem system;

  public KernelProvider() {
    this(Machine.local());
  }

  KernelProvider(Machine machine) {
    this(machine, null);
  }

  KernelProvider(Machine machine, KernelSystem system) {
    this.machine = machine;
    this.bus = new PciBus(machine);
    this.system = system;
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
    checkPlatform(System.getProperty("os.name"), System.getProperty("os.arch"));
    KernelOptions options = KernelOptions.of(locator);
    Undo undo = new Undo();
    try {
      return options.descriptor().isPresent()
          ? passed(locator, options, undo)
          : opened(locator, options, undo);
    } catch (RuntimeException e) {
      throw undo.because(e);
    }
  }

  /** Structures, page size and the order of stores are those of this platform. */
  static void checkPlatform(String os, String architecture) {
    if (!os.equals("Linux") || !architecture.equals("amd64")) {
      throw new VfioException(
          Reason.UNSUPPORTED,
          "hghca opens PCI functions on Linux on x86-64, not on %s on %s"
              .formatted(os, architecture));
    }
  }

  private PciFunction opened(Locator locator, KernelOptions options, Undo undo) {
    PciDevice device = selected(locator);
    String address = device.address();
    KernelSystem system = system();
    system.take(address);
    undo.add(() -> system.giveBack(address));
    FunctionFindings findings = new FunctionFindings(machine, device, options.way());
    if (findings.obstacle().isPresent()) {
      throw findings.obstacle().get();
    }
    if (findings.way() == Way.NOIOMMU) {
      LOG.warn(
          "{} is opened without an IOMMU: a wrong address in a request of the card overwrites any"
              + " memory of this machine",
          address);
    }
    VfioEntry entry = VfioEntry.open(system, device, findings.way(), options);
    undo.add(entry::close);
    return KernelFunction.of(system, locator, address, options, entry, undo);
  }

  private PciFunction passed(Locator locator, KernelOptions options, Undo undo) {
    if (!FunctionSelector.isAddress(locator.name())) {
      throw new VfioException(
          Reason.INVALID,
          "locator '%s': with fd= the function is named by its address, such as 0000:03:00.0"
              .formatted(locator));
    }
    KernelSystem system = system();
    system.take(locator.name());
    undo.add(() -> system.giveBack(locator.name()));
    VfioEntry entry = VfioEntry.passed(system, locator.name(), options);
    undo.add(entry::close);
    return KernelFunction.of(system, locator, locator.name(), options, entry, undo);
  }

  private KernelSystem system() {
    return system == null ? KernelSystem.local() : system;
  }

  private PciDevice selected(Locator locator) {
    return bus.select(FunctionSelector.parse(locator.name()));
  }
}

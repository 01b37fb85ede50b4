package org.hghca.vfio.kernel;

import java.util.List;
import java.util.Optional;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctionProvider;
import org.hghca.vfio.PciIds;
import org.hghca.vfio.UndoStack;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;

/**
 * Functions that the Linux kernel's VFIO gives to user space: {@code pci:0000:03:00.0}, or {@code
 * pci:id=10ee:9038} and {@code pci:class=0207} where only one matches. It finds them in sysfs and
 * explains why one cannot be opened. Parameters:
 *
 * <ul>
 *   <li>{@code iommu=auto}, the default: the best mode that the system supports; {@code iommufd},
 *       {@code group} or {@code noiommu}: this mode.
 *   <li>{@code bind=true}: the function is bound to vfio-pci, if it is not, and returns to its
 *       driver when it is closed. Needs root.
 *   <li>{@code container=NAME}: functions of this process that name the same container share one
 *       I/O address space. By default each has its own, except those of one IOMMU group.
 *   <li>{@code interrupts=auto}, the default: MSI-X, MSI or INTx, the first available one; {@code
 *       msix}, {@code msi}, {@code intx}: only these; {@code none}.
 *   <li>{@code fd=N} with {@code iommufd=M}: a process with more privileges has opened the
 *       function's node {@code /dev/vfio/devices/vfioX} and {@code /dev/iommu}, and passed them to
 *       this process as descriptors N and M. {@code fd=N} with {@code container=fd:M}: N comes from
 *       its group ({@code VFIO_GROUP_GET_DEVICE_FD}), M is the container with its IOMMU. The caller
 *       keeps them: they are duplicated, and can be used again once the function is closed.
 *   <li>{@code limit=, as=, hcr=, assumeClean=, mac=, ip=, events=}: parameters of the driver,
 *       ignored here.
 * </ul>
 */
public final class KernelProvider implements PciFunctionProvider {
  private static final ConditionLog LOG = ConditionLog.of(KernelProvider.class);

  private final Machine machine;
  private final PciBus bus;
  private final Binding binding;

  /** Null for the system of this machine, which binds the system calls on first use. */
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
    this.binding = new Binding(machine);
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
    // An address is used as it is: a process with a passed descriptor may not see sysfs.
    String address =
        FunctionSelector.parse(locator.name()) instanceof FunctionSelector.At at
            ? at.address()
            : selected(locator).address();
    return new Locator(locator.scheme(), address, locator.parameters());
  }

  /** By address, as sysfs shows them, which a process with a passed descriptor may not see. */
  @Override
  public Optional<PciIds> ids(Locator locator) {
    return FunctionSelector.parse(locator.name()) instanceof FunctionSelector.At at
        ? bus.find(at.address()).map(PciDevice::ids)
        : Optional.empty();
  }

  @Override
  public PciFunction open(Locator locator) {
    checkPlatform(System.getProperty("os.name"), System.getProperty("os.arch"));
    KernelOptions options = KernelOptions.of(locator);
    UndoStack undo = new UndoStack();
    try {
      return options.descriptor().isPresent()
          ? passed(locator, options, undo)
          : opened(locator, options, undo);
    } catch (RuntimeException e) {
      throw undo.because(e);
    }
  }

  /** The structures, the page size and the store order are specific to this platform. */
  static void checkPlatform(String os, String architecture) {
    if (!os.equals("Linux") || !architecture.equals("amd64")) {
      throw new VfioException(
          Reason.UNSUPPORTED,
          "hghca opens PCI functions on Linux on x86-64, not on %s on %s"
              .formatted(os, architecture));
    }
  }

  private PciFunction opened(Locator locator, KernelOptions options, UndoStack undo) {
    PciDevice found = selected(locator);
    String address = found.address();
    KernelSystem system = system();
    system.take(address);
    undo.add(() -> system.giveBack(address));
    PciDevice device = options.bind() ? bound(found, undo) : found;
    FunctionFindings findings = new FunctionFindings(machine, device, options.mode());
    if (findings.obstacle().isPresent()) {
      throw findings.obstacle().get();
    }
    IommuMode mode = findings.mode();
    if (mode == IommuMode.NOIOMMU) {
      LOG.warn(
          About.device(address),
          "opened without an IOMMU: a wrong address in a request of the card overwrites any memory"
              + " of this machine");
    }
    try {
      VfioEntry entry = VfioEntry.open(system, device, mode, options);
      undo.add(entry::close);
      return KernelFunction.of(system, locator, address, options, entry, undo);
    } catch (VfioException e) {
      throw Diagnosis.explain(machine, device, mode, e);
    }
  }

  /**
   * The function bound to vfio-pci; a function that had another driver stays bound until it is
   * closed.
   */
  private PciDevice bound(PciDevice device, UndoStack undo) {
    if (device.isBoundToVfio()) {
      return device;
    }
    binding.bind(List.of(device));
    undo.add(() -> giveBack(device.address()));
    return bus.find(device.address()).orElse(device);
  }

  private void giveBack(String address) {
    try {
      bus.find(address).filter(PciDevice::isBoundToVfio).ifPresent(binding::unbind);
    } catch (VfioException e) {
      LOG.warn(About.device(address), "not given back to its driver: {}", e.getMessage());
    }
  }

  private PciFunction passed(Locator locator, KernelOptions options, UndoStack undo) {
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

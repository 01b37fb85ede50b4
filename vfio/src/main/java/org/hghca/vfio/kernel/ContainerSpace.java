package org.hghca.vfio.kernel;

import java.util.Optional;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SystemCalls;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.dma.AddressSpace;
import org.hghca.vfio.dma.PhysicalMemory;

/** The I/O address space of a container of the legacy interface, {@code /dev/vfio/vfio}. */
final class ContainerSpace extends SharedSpace {
  private final KernelSystem system;
  private final int descriptor;
  private boolean hasIommu;

  private ContainerSpace(KernelSystem system, Optional<String> name, int descriptor) {
    super(system, name);
    this.system = system;
    this.descriptor = descriptor;
  }

  /** The container of a name, or a new one; its user count is incremented. */
  static ContainerSpace of(KernelSystem system, Optional<String> name) {
    SharedSpace known = name.map(system.spaces()::get).orElse(null);
    if (known instanceof ContainerSpace container) {
      container.use();
      return container;
    }
    if (known != null) {
      throw new VfioException(
          Reason.INVALID,
          "the container '%s' belongs to iommufd, but this function is opened through its IOMMU group"
              .formatted(name.get()));
    }
    int descriptor = system.open(system.machine().file(Vfio.CONTAINER_NODE));
    int version = system.calls().ioctl(descriptor, VfioAbi.GET_API_VERSION, 0);
    if (version != VfioAbi.API_VERSION) {
      system.close(descriptor);
      throw new VfioException(
          Reason.UNSUPPORTED,
          "%s speaks version %d of VFIO, hghca version %d"
              .formatted(Vfio.CONTAINER_NODE, version, VfioAbi.API_VERSION));
    }
    ContainerSpace container = new ContainerSpace(system, name, descriptor);
    container.use();
    return container;
  }

  /**
   * A container that another process has opened and connected to its IOMMU; its user count is
   * incremented.
   */
  static ContainerSpace passed(KernelSystem system, String name, int passed) {
    if (system.spaces().get(name) instanceof ContainerSpace container) {
      container.use();
      return container;
    }
    ContainerSpace container =
        new ContainerSpace(
            system, Optional.of(name), system.duplicate(passed, Vfio.CONTAINER_NODE));
    container.hasIommu = true;
    container.use();
    return container;
  }

  int descriptor() {
    return descriptor;
  }

  /** The addresses, after a group was put into the container. */
  AddressSpace join(IommuMode mode, MapFailure failure) {
    SystemCalls calls = system.calls();
    if (mode == IommuMode.NOIOMMU) {
      setIommu(VfioAbi.NOIOMMU_IOMMU);
      return addresses(new PhysicalMemory(calls));
    }
    boolean second = calls.ioctl(descriptor, VfioAbi.CHECK_EXTENSION, VfioAbi.TYPE1V2_IOMMU) > 0;
    setIommu(second ? VfioAbi.TYPE1V2_IOMMU : VfioAbi.TYPE1_IOMMU);
    return addresses(new Type1Backend(calls, descriptor, failure));
  }

  private void setIommu(int type) {
    if (hasIommu) {
      return;
    }
    int answer = system.calls().ioctl(descriptor, VfioAbi.SET_IOMMU, type);
    if (LinuxErrno.ENODEV.is(answer)) {
      throw KernelErrors.of(
          "the container cannot get its IOMMU", answer, "sudo modprobe vfio_iommu_type1");
    }
    KernelErrors.checked(answer, "the container cannot get its IOMMU");
    hasIommu = true;
  }

  @Override
  void end() {
    system.close(descriptor);
  }
}

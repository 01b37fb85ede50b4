package org.hghca.vfio.kernel;

/** Names of the kernel's VFIO. */
final class Vfio {
  /** The driver that gives a PCI function to user space. */
  static final String DRIVER = "vfio-pci";

  static final String CONTAINER_NODE = "/dev/vfio/vfio";
  static final String IOMMUFD_NODE = "/dev/iommu";
  static final String NOIOMMU_MODE = "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode";

  private Vfio() {}

  /** Whether a driver is vfio-pci, or vfio-pci with additions for one device. */
  static boolean isVfioDriver(String name) {
    return name.endsWith(DRIVER) || name.endsWith("vfio_pci");
  }
}

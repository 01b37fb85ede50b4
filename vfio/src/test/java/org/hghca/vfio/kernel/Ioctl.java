package org.hghca.vfio.kernel;

import java.util.Arrays;

/** The requests of linux/vfio.h and linux/iommufd.h that the fake kernel knows, by name. */
enum Ioctl {
  VFIO_GET_API_VERSION(100),
  VFIO_CHECK_EXTENSION(101),
  VFIO_SET_IOMMU(102),
  VFIO_GROUP_GET_STATUS(103),
  VFIO_GROUP_SET_CONTAINER(104),
  VFIO_GROUP_UNSET_CONTAINER(105),
  VFIO_GROUP_GET_DEVICE_FD(106),
  VFIO_DEVICE_GET_INFO(107),
  VFIO_DEVICE_GET_REGION_INFO(108),
  VFIO_DEVICE_GET_IRQ_INFO(109),
  VFIO_DEVICE_SET_IRQS(110),
  VFIO_DEVICE_RESET(111),
  VFIO_DEVICE_GET_PCI_HOT_RESET_INFO(112),
  VFIO_DEVICE_PCI_HOT_RESET(113),
  VFIO_DEVICE_BIND_IOMMUFD(118),
  VFIO_DEVICE_ATTACH_IOMMUFD_PT(119),
  VFIO_DEVICE_DETACH_IOMMUFD_PT(120),

  // Requests of a container share their numbers with requests of a function.
  VFIO_IOMMU_GET_INFO(112),
  VFIO_IOMMU_MAP_DMA(113),
  VFIO_IOMMU_UNMAP_DMA(114),

  IOMMU_DESTROY(0x80),
  IOMMU_IOAS_ALLOC(0x81),
  IOMMU_IOAS_IOVA_RANGES(0x84),
  IOMMU_IOAS_MAP(0x85),
  IOMMU_IOAS_UNMAP(0x86);

  private static final int TYPE = ';';
  private final int number;

  Ioctl(int number) {
    this.number = number;
  }

  private boolean isOfContainer() {
    return name().startsWith("VFIO_IOMMU_");
  }

  private boolean isOfDevice() {
    return name().startsWith("VFIO_DEVICE_");
  }

  /**
   * The request with a number.
   *
   * @param ofContainer whether the descriptor is a container, else a group, a function or an
   *     address space
   */
  static Ioctl of(int request, boolean ofContainer) {
    return Arrays.stream(values())
        .filter(ioctl -> (TYPE << 8 | ioctl.number) == request)
        .filter(ioctl -> ofContainer ? !ioctl.isOfDevice() : !ioctl.isOfContainer())
        .findFirst()
        .orElseThrow(() -> new AssertionError("ioctl 0x%x".formatted(request)));
  }
}

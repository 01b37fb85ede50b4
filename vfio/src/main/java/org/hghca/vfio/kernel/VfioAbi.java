package org.hghca.vfio.kernel;

/**
 * Numbers of {@code linux/vfio.h}: requests, flags, and the offsets of structure members. All of
 * its structures begin with {@code argsz}, their size in the caller's version.
 */
final class VfioAbi {
  private static final int BASE = ';' << 8 | 100;

  static final int API_VERSION = 0;
  static final int TYPE1_IOMMU = 1;
  static final int TYPE1V2_IOMMU = 3;
  static final int NOIOMMU_IOMMU = 8;

  static final int GET_API_VERSION = BASE;
  static final int CHECK_EXTENSION = BASE + 1;
  static final int SET_IOMMU = BASE + 2;
  static final int GROUP_GET_STATUS = BASE + 3;
  static final int GROUP_SET_CONTAINER = BASE + 4;
  static final int GROUP_GET_DEVICE_FD = BASE + 6;
  static final int DEVICE_GET_INFO = BASE + 7;
  static final int DEVICE_GET_REGION_INFO = BASE + 8;
  static final int DEVICE_GET_IRQ_INFO = BASE + 9;
  static final int DEVICE_SET_IRQS = BASE + 10;
  static final int DEVICE_RESET = BASE + 11;
  static final int DEVICE_GET_PCI_HOT_RESET_INFO = BASE + 12;
  static final int DEVICE_PCI_HOT_RESET = BASE + 13;
  static final int DEVICE_BIND_IOMMUFD = BASE + 18;
  static final int DEVICE_ATTACH_IOMMUFD_PT = BASE + 19;
  static final int DEVICE_DETACH_IOMMUFD_PT = BASE + 20;

  // A container's requests share numbers with a device's.
  static final int IOMMU_GET_INFO = BASE + 12;
  static final int IOMMU_MAP_DMA = BASE + 13;
  static final int IOMMU_UNMAP_DMA = BASE + 14;

  /** In every structure. */
  static final int ARGSZ = 0;

  /** In nearly every structure. */
  static final int FLAGS = 4;

  /** {@code struct vfio_group_status}. */
  static final class GroupStatus {
    static final int SIZE = 8;
    static final int VIABLE = 1;

    private GroupStatus() {}
  }

  /** {@code struct vfio_device_info}, in its first version. */
  static final class DeviceInfo {
    static final int SIZE = 16;
    static final int RESET = 1;
    static final int PCI = 1 << 1;

    private DeviceInfo() {}
  }

  /** {@code struct vfio_region_info}. */
  static final class RegionInfo {
    static final int INDEX = 8;
    static final int CAP_OFFSET = 12;
    static final int REGION_SIZE = 16;
    static final int OFFSET = 24;
    static final int SIZE = 32;

    static final int READ = 1;
    static final int WRITE = 1 << 1;
    static final int MMAP = 1 << 2;
    static final int CAPS = 1 << 3;

    private RegionInfo() {}
  }

  /** Regions of a PCI function; 0 to 5 are its BARs. */
  static final int CONFIG_REGION = 7;

  /**
   * {@code struct vfio_region_info_cap_sparse_mmap}: what part of a region may be mapped. Offsets
   * count from the capability.
   */
  static final class SparseMmap {
    static final int ID = 1;
    static final int NR_AREAS = 8;
    static final int AREAS = 16;

    /** {@code struct vfio_region_sparse_mmap_area}: offset and size. */
    static final int AREA_SIZE = 16;

    private SparseMmap() {}
  }

  /** {@code struct vfio_irq_info}. */
  static final class IrqInfo {
    static final int INDEX = 8;
    static final int COUNT = 12;
    static final int SIZE = 16;

    static final int EVENTFD = 1;

    private IrqInfo() {}
  }

  static final int INTX_IRQ = 0;
  static final int MSI_IRQ = 1;
  static final int MSIX_IRQ = 2;
  static final int ERR_IRQ = 3;
  static final int REQ_IRQ = 4;

  /** {@code struct vfio_irq_set}. */
  static final class IrqSet {
    static final int INDEX = 8;
    static final int START = 12;
    static final int COUNT = 16;
    static final int DATA = 20;

    static final int DATA_NONE = 1;
    static final int DATA_EVENTFD = 1 << 2;
    static final int ACTION_UNMASK = 1 << 4;
    static final int ACTION_TRIGGER = 1 << 5;

    private IrqSet() {}
  }

  /** {@code struct vfio_pci_hot_reset_info} and {@code struct vfio_pci_hot_reset}. */
  static final class HotReset {
    static final int COUNT = 8;

    /** {@code struct vfio_pci_dependent_device}, or the descriptors of groups. */
    static final int ENTRIES = 12;

    static final int DEVICE_GROUP = 0;
    static final int DEVICE_SEGMENT = 4;
    static final int DEVICE_BUS = 6;
    static final int DEVICE_DEVFN = 7;
    static final int DEVICE_SIZE = 8;

    /** Entries hold {@code devid} instead of a group. */
    static final int DEV_ID = 1;

    /** All affected functions are the caller's. */
    static final int DEV_ID_OWNED = 1 << 1;

    private HotReset() {}
  }

  /** {@code struct vfio_iommu_type1_info}. */
  static final class Type1Info {
    static final int IOVA_PGSIZES = 8;
    static final int CAP_OFFSET = 16;
    static final int SIZE = 24;

    static final int PGSIZES = 1;
    static final int CAPS = 1 << 1;

    private Type1Info() {}
  }

  /** {@code struct vfio_iommu_type1_info_cap_iova_range}. */
  static final class IovaRanges {
    static final int ID = 1;
    static final int NR_IOVAS = 8;
    static final int RANGES = 16;

    /** {@code struct vfio_iova_range}: first and last address. */
    static final int RANGE_SIZE = 16;

    private IovaRanges() {}
  }

  /** {@code struct vfio_iommu_type1_info_dma_avail}. */
  static final class DmaAvail {
    static final int ID = 3;
    static final int AVAIL = 8;

    private DmaAvail() {}
  }

  /** {@code struct vfio_iommu_type1_dma_map}. */
  static final class DmaMap {
    static final int VADDR = 8;
    static final int IOVA = 16;
    static final int LENGTH = 24;
    static final int SIZE = 32;

    static final int READ = 1;
    static final int WRITE = 1 << 1;

    private DmaMap() {}
  }

  /** {@code struct vfio_iommu_type1_dma_unmap}. */
  static final class DmaUnmap {
    static final int IOVA = 8;
    static final int LENGTH = 16;
    static final int SIZE = 24;

    private DmaUnmap() {}
  }

  /** {@code struct vfio_device_bind_iommufd}. */
  static final class BindIommufd {
    static final int IOMMUFD = 8;
    static final int SIZE = 16;

    private BindIommufd() {}
  }

  /** {@code struct vfio_device_attach_iommufd_pt}. */
  static final class AttachIommufdPt {
    static final int PT_ID = 8;
    static final int SIZE = 12;

    private AttachIommufdPt() {}
  }

  /** {@code struct vfio_device_detach_iommufd_pt}. */
  static final class DetachIommufdPt {
    static final int SIZE = 8;

    private DetachIommufdPt() {}
  }

  private VfioAbi() {}
}

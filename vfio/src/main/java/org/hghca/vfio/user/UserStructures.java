package org.hghca.vfio.user;

/**
 * The structures after the header of a message, as offsets in its payload. All are in the byte
 * order of the host. Names are those of the protocol description, or of {@code linux/vfio.h} where
 * the protocol borrows a structure from there.
 */
final class UserStructures {

  private UserStructures() {}

  /** {@code VERSION}: two numbers, then text of JSON with a terminating NUL. */
  static final class Version {
    static final int MAJOR = 0;
    static final int MINOR = 2;
    static final int DATA = 4;

    private Version() {}
  }

  /** {@code DMA_MAP}; the reply is only a header. */
  static final class DmaMap {
    static final int ARGSZ = 0;
    static final int FLAGS = 4;
    static final int OFFSET = 8;
    static final int ADDRESS = 16;
    static final int LENGTH = 24;
    static final int BYTES = 32;

    static final int FLAG_READ = 1;
    static final int FLAG_WRITE = 1 << 1;

    private DmaMap() {}
  }

  /** {@code DMA_UNMAP}; the reply is the same structure. */
  static final class DmaUnmap {
    static final int ARGSZ = 0;
    static final int FLAGS = 4;
    static final int ADDRESS = 8;
    static final int LENGTH = 16;
    static final int BYTES = 24;

    /** {@code VFIO_DMA_UNMAP_FLAG_ALL}: whatever is mapped; address and length are 0. */
    static final int FLAG_ALL = 1 << 1;

    private DmaUnmap() {}
  }

  /** {@code struct vfio_device_info}. */
  static final class DeviceInfo {
    static final int ARGSZ = 0;
    static final int FLAGS = 4;
    static final int REGIONS = 8;
    static final int INTERRUPTS = 12;
    static final int BYTES = 16;

    static final int FLAG_RESET = 1;
    static final int FLAG_PCI = 1 << 1;

    private DeviceInfo() {}
  }

  /** {@code struct vfio_region_info}; capabilities may follow, as {@code CAP_OFFSET} tells. */
  static final class RegionInfo {
    static final int ARGSZ = 0;
    static final int FLAGS = 4;
    static final int INDEX = 8;
    static final int CAP_OFFSET = 12;
    static final int LENGTH = 16;
    static final int OFFSET = 24;
    static final int BYTES = 32;

    static final int FLAG_READ = 1;
    static final int FLAG_WRITE = 1 << 1;
    static final int FLAG_MMAP = 1 << 2;
    static final int FLAG_CAPS = 1 << 3;

    /** {@code VFIO_PCI_CONFIG_REGION_INDEX}: regions 0 to 5 are the BARs, 6 the ROM, 8 VGA. */
    static final int CONFIGURATION = 7;

    /** {@code VFIO_PCI_NUM_REGIONS}. */
    static final int REGIONS = 9;

    private RegionInfo() {}
  }

  /**
   * {@code struct vfio_region_info_cap_sparse_mmap}, a capability of a region. All capabilities
   * begin with their id and the payload offset of the next one, 0 for the last.
   */
  static final class SparseAreas {
    static final int ID = 0;
    static final int NEXT = 4;
    static final int COUNT = 8;
    static final int AREAS = 16;

    /** {@code struct vfio_region_sparse_mmap_area}. */
    static final int AREA_BYTES = 16;

    static final int AREA_OFFSET = 0;
    static final int AREA_LENGTH = 8;

    /** {@code VFIO_REGION_INFO_CAP_SPARSE_MMAP}. */
    static final int SPARSE_MMAP = 1;

    private SparseAreas() {}
  }

  /** {@code DEVICE_GET_REGION_IO_FDS}; the reply begins with the same, and its events follow. */
  static final class RegionEvents {
    static final int ARGSZ = 0;
    static final int FLAGS = 4;
    static final int INDEX = 8;
    static final int COUNT = 12;
    static final int BYTES = 16;

    private RegionEvents() {}
  }

  /** {@code struct vfio_irq_info}. */
  static final class IrqInfo {
    static final int ARGSZ = 0;
    static final int FLAGS = 4;
    static final int INDEX = 8;
    static final int COUNT = 12;
    static final int BYTES = 16;

    static final int FLAG_EVENTFD = 1;
    static final int FLAG_MASKABLE = 1 << 1;
    static final int FLAG_AUTOMASKED = 1 << 2;
    static final int FLAG_NORESIZE = 1 << 3;

    /** {@code VFIO_PCI_INTX_IRQ_INDEX}. */
    static final int INTX = 0;

    /** {@code VFIO_PCI_MSI_IRQ_INDEX}. */
    static final int MSI = 1;

    /** {@code VFIO_PCI_MSIX_IRQ_INDEX}. */
    static final int MSIX = 2;

    /** {@code VFIO_PCI_ERR_IRQ_INDEX}. */
    static final int ERROR = 3;

    /** {@code VFIO_PCI_REQ_IRQ_INDEX}: the server wants its device back. */
    static final int REQUEST = 4;

    /** {@code VFIO_PCI_NUM_IRQS}. */
    static final int INDICES = 5;

    private IrqInfo() {}
  }

  /** {@code struct vfio_irq_set}; event descriptors are attached to the message. */
  static final class IrqSet {
    static final int ARGSZ = 0;
    static final int FLAGS = 4;
    static final int INDEX = 8;
    static final int START = 12;
    static final int COUNT = 16;
    static final int DATA = 20;

    static final int DATA_NONE = 1;
    static final int DATA_BOOL = 1 << 1;
    static final int DATA_EVENTFD = 1 << 2;
    static final int ACTION_MASK = 1 << 3;
    static final int ACTION_UNMASK = 1 << 4;
    static final int ACTION_TRIGGER = 1 << 5;

    private IrqSet() {}
  }

  /**
   * {@code REGION_READ} and {@code REGION_WRITE}. The reply to a read and the request to write have
   * the data; the other message of each pair ends before it.
   */
  static final class RegionAccess {
    static final int OFFSET = 0;
    static final int REGION = 8;
    static final int COUNT = 12;
    static final int DATA = 16;

    private RegionAccess() {}
  }

  /** {@code REGION_WRITE_MULTI}: writes in a row, each of 8 bytes at most. */
  static final class WriteMulti {
    static final int COUNT = 0;
    static final int WRITES = 8;

    /** One write: a {@link RegionAccess} whose data always takes 8 bytes. */
    static final int WRITE_BYTES = 24;

    private WriteMulti() {}
  }

  /** {@code REGISTER_RING}, with the file of the ring; the reply is only a header. */
  static final class RingInfo {
    static final int LAYOUT = 0;
    static final int BYTES = 4;

    private RingInfo() {}
  }

  /** {@code DMA_READ} and {@code DMA_WRITE}, with data as in {@link RegionAccess}. */
  static final class DmaTransfer {
    static final int ADDRESS = 0;
    static final int COUNT = 8;
    static final int DATA = 16;

    private DmaTransfer() {}
  }
}

package org.hghca.vfio.kernel;

/**
 * Numbers of {@code linux/iommufd.h}. All of its structures begin with {@code size}, their size in
 * the caller's version.
 */
final class IommufdAbi {
  private static final int BASE = ';' << 8;

  static final int DESTROY = BASE | 0x80;
  static final int IOAS_ALLOC = BASE | 0x81;
  static final int IOAS_IOVA_RANGES = BASE | 0x84;
  static final int IOAS_MAP = BASE | 0x85;
  static final int IOAS_UNMAP = BASE | 0x86;

  /** In every structure. */
  static final int SIZE = 0;

  /** {@code struct iommu_destroy}. */
  static final class Destroy {
    static final int ID = 4;
    static final int BYTES = 8;

    private Destroy() {}
  }

  /** {@code struct iommu_ioas_alloc}. */
  static final class IoasAlloc {
    static final int OUT_IOAS_ID = 8;
    static final int BYTES = 12;

    private IoasAlloc() {}
  }

  /** {@code struct iommu_ioas_iova_ranges}. */
  static final class IovaRanges {
    static final int IOAS_ID = 4;
    static final int NUM_IOVAS = 8;
    static final int ALLOWED_IOVAS = 16;
    static final int OUT_IOVA_ALIGNMENT = 24;
    static final int BYTES = 32;

    /** {@code struct iommu_iova_range}: first and last address. */
    static final int RANGE_BYTES = 16;

    private IovaRanges() {}
  }

  /** {@code struct iommu_ioas_map}. */
  static final class IoasMap {
    static final int FLAGS = 4;
    static final int IOAS_ID = 8;
    static final int USER_VA = 16;
    static final int LENGTH = 24;
    static final int IOVA = 32;
    static final int BYTES = 40;

    static final int FIXED_IOVA = 1;
    static final int WRITEABLE = 1 << 1;
    static final int READABLE = 1 << 2;

    private IoasMap() {}
  }

  /** {@code struct iommu_ioas_unmap}. */
  static final class IoasUnmap {
    static final int IOAS_ID = 4;
    static final int IOVA = 8;
    static final int LENGTH = 16;
    static final int BYTES = 24;

    private IoasUnmap() {}
  }

  private IommufdAbi() {}
}

package org.hghca.vfio;

/**
 * An access of a device to host memory that was refused.
 *
 * @param iova first address of the access
 * @param length in bytes
 * @param write whether it was a write access
 * @param cause the cause: not mapped, no permission, memory gone
 */
public record DmaFault(long iova, long length, boolean write, String cause) {

  @Override
  public String toString() {
    return "DMA %s of %d bytes at IOVA 0x%x: %s"
        .formatted(write ? "write" : "read", length, iova, cause);
  }
}

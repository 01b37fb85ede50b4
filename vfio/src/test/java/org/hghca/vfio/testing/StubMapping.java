package org.hghca.vfio.testing;

import java.lang.foreign.MemorySegment;
import java.util.function.LongUnaryOperator;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaMapping;

/**
 * Memory that a device may read and write, at the I/O addresses that a test chooses.
 *
 * @param iovas the I/O address of each offset into the memory
 * @param onClose runs when the mapping is closed
 */
public record StubMapping(MemorySegment segment, LongUnaryOperator iovas, Runnable onClose)
    implements DmaMapping {

  @Override
  public long iova(long offset) {
    return iovas.applyAsLong(offset);
  }

  @Override
  public DmaAccess access() {
    return DmaAccess.READ_WRITE;
  }

  @Override
  public void close() {
    onClose.run();
  }
}

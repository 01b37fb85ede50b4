package org.hghca.conformance.rtl;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.hghca.vfio.DeviceBus;

/** Host memory from bus address 0 on, fully accessible to a card, with a list of its accesses. */
final class FlatMemory implements DeviceBus {
  private static final long SIZE = 8 << 20;

  final MemorySegment bytes;

  /** Reads as {@code "read ADDRESS LENGTH"}, writes as {@code "write ADDRESS BYTES"}. */
  final List<String> accesses = new ArrayList<>();

  FlatMemory() {
    this(SIZE);
  }

  FlatMemory(long size) {
    bytes = Arena.ofAuto().allocate(size, 4096);
  }

  @Override
  public boolean read(long iova, MemorySegment destination, long offset, long length) {
    accesses.add("read %x %d".formatted(iova, length));
    MemorySegment.copy(bytes, iova, destination, offset, length);
    return true;
  }

  @Override
  public boolean write(long iova, MemorySegment source, long offset, long length) {
    MemorySegment.copy(source, offset, bytes, iova, length);
    accesses.add("write %x %s".formatted(iova, hex(iova, length)));
    return true;
  }

  @Override
  public void raise(int vector) {
    throw new AssertionError("the card raises interrupt " + vector);
  }

  String hex(long address, long length) {
    return HexFormat.of().formatHex(bytes.asSlice(address, length).toArray(ValueLayout.JAVA_BYTE));
  }
}

package org.hghca.verbs;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * A part of a memory region: the data of one element of a request, the target of a peer, and the
 * memory that a program reads and writes. Created once, by {@link MemoryRegion#slice} or as a
 * buffer of a {@link RegisteredBufferPool}, and reused. It is valid until its region is closed or
 * re-registered with other memory. Thread-safe; the bytes belong to the thread that may access them
 * now.
 */
public sealed class MemorySlice permits RegisteredBuffer {
  private final MemoryRegion region;
  private final long offset;
  private final MemorySegment segment;
  private volatile ByteBuffer view;

  MemorySlice(MemoryRegion region, long offset, long length) {
    this.region = region;
    this.offset = offset;
    this.segment = region.segment().asSlice(offset, length);
  }

  /** The region that it is a part of. */
  public final MemoryRegion region() {
    return region;
  }

  /** Its offset in the region, in bytes. */
  public final long offset() {
    return offset;
  }

  /** In bytes. */
  public final long length() {
    return segment.byteSize();
  }

  /** The address of its first byte, for local elements and for peers. */
  public final long address() {
    return region.address() + offset;
  }

  /** Its bytes. */
  public final MemorySegment segment() {
    return segment;
  }

  /**
   * Its bytes as a direct buffer, in network byte order as any new one; nothing is copied. It is
   * the same buffer each time, so its position and limit belong to the user of the slice.
   *
   * @throws VerbsException EINVAL when it is longer than a buffer can be, 2^31 - 1 bytes
   */
  public final ByteBuffer byteBuffer() {
    ByteBuffer made = view;
    return made != null ? made : makeView();
  }

  private synchronized ByteBuffer makeView() {
    if (view == null) {
      if (length() > Integer.MAX_VALUE) {
        throw new VerbsException(
            Errno.EINVAL,
            "%d bytes are too many for a ByteBuffer: take a slice of them".formatted(length()));
      }
      view = segment.asByteBuffer();
    }
    return view;
  }

  /**
   * A part of it.
   *
   * @param offset in this slice, in bytes
   * @throws IndexOutOfBoundsException when the part reaches beyond it
   */
  public final MemorySlice slice(long offset, long length) {
    Objects.checkFromIndexSize(offset, length, length());
    return new MemorySlice(region, this.offset + offset, length);
  }

  /** The description for a peer that accesses it, if the region's rights allow it. */
  public final RemoteMemory remote() {
    return new RemoteMemory(address(), region.rkey(), length());
  }

  @Override
  public String toString() {
    return "%d bytes at 0x%x, offset %d of %s".formatted(length(), address(), offset, region);
  }
}

package org.hghca.vfio.kernel;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SystemCalls;

/**
 * The descriptor of a function. Once closed, every call returns ENODEV, because the number may
 * belong to another file by then. Thread-safe.
 */
final class DeviceFile implements AutoCloseable {
  static final int PROT_READ_WRITE = 1 | 2;
  private static final int MAP_SHARED = 1;

  private final SystemCalls calls;
  private final int descriptor;
  private final MemorySegment value = Arena.ofAuto().allocate(JAVA_LONG);
  private boolean closed;

  /** The file of a descriptor, which it closes. */
  DeviceFile(SystemCalls calls, int descriptor) {
    this.calls = calls;
    this.descriptor = descriptor;
  }

  synchronized int ioctl(int request, MemorySegment structure) {
    return closed ? -LinuxErrno.ENODEV.number() : calls.ioctl(descriptor, request, structure);
  }

  synchronized int ioctl(int request) {
    return closed ? -LinuxErrno.ENODEV.number() : calls.ioctl(descriptor, request, 0);
  }

  /** Maps a part of a region; returns the address, or the negative error number. */
  synchronized long mmap(long offset, long length) {
    return closed
        ? -LinuxErrno.ENODEV.number()
        : calls.mmap(length, PROT_READ_WRITE, MAP_SHARED, descriptor, offset);
  }

  /**
   * One read access of 1, 2, 4 or 8 bytes.
   *
   * @return the value, zero-extended; all ones when the function does not answer
   */
  synchronized long read(long offset, int width) {
    MemorySegment buffer = value.asSlice(0, width);
    if (closed || calls.pread(descriptor, buffer, offset) != width) {
      return -1L >>> 64 - 8 * width;
    }
    return switch (width) {
      case 1 -> Byte.toUnsignedLong(buffer.get(JAVA_BYTE, 0));
      case 2 -> Short.toUnsignedLong(buffer.get(JAVA_SHORT, 0));
      case 4 -> Integer.toUnsignedLong(buffer.get(JAVA_INT, 0));
      default -> buffer.get(JAVA_LONG, 0);
    };
  }

  /** One write access of 1, 2, 4 or 8 bytes; lost when the function does not answer. */
  synchronized void write(long offset, int width, long number) {
    if (closed) {
      return;
    }
    value.set(JAVA_LONG, 0, number); // little-endian: its low bytes come first
    long _ = calls.pwrite(descriptor, value.asSlice(0, width), offset);
  }

  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      int _ = calls.close(descriptor);
    }
  }
}

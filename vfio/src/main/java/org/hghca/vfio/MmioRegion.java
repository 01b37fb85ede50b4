package org.hghca.vfio;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.function.Function;
import org.hghca.linux.LostPages;

/**
 * Registers of a function: every call is exactly one naturally aligned little-endian access of its
 * width. Stores are ordered after all earlier stores of the calling thread. Thread-safe.
 *
 * <p>An access outside the region throws {@link IndexOutOfBoundsException}, a misaligned one {@link
 * IllegalArgumentException}; neither reaches the device.
 *
 * <p>A region is either memory that the CPU accesses directly, where a call compiles to one load or
 * store, or a handler, for software devices and for registers that cannot be mapped. It is one
 * final class, so that loading the second kind does not slow down the first. A handler may also
 * back memory: it serves accesses beyond the memory, and all accesses once the memory's arena is
 * closed.
 */
public final class MmioRegion {
  private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();
  private static final VarHandle SHORT =
      ValueLayout.JAVA_SHORT.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();
  private static final VarHandle INT =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();
  private static final VarHandle LONG =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

  private final MemorySegment mapped;
  private final MmioHandler handler;
  private final long size;

  /** Makes the exception for an access to mapped memory that no longer exists, or null. */
  private final Function<InternalError, VfioException> lost;

  private MmioRegion(
      MemorySegment mapped,
      MmioHandler handler,
      long size,
      Function<InternalError, VfioException> lost) {
    this.mapped = mapped;
    this.handler = handler;
    this.size = size;
    this.lost = lost;
  }

  /**
   * Registers that the CPU accesses through mapped memory, aligned to at least 8 bytes. Its
   * addresses stay mapped until the function is closed, even if its arena is closed before.
   */
  public static MmioRegion mapped(MemorySegment memory) {
    return new MmioRegion(memory, null, memory.byteSize(), null);
  }

  /**
   * Registers in a mapped file that another process may truncate.
   *
   * @param memory aligned to 8 bytes at least
   * @param lost makes the exception for an access beyond the end of the truncated file
   */
  public static MmioRegion mapped(
      MemorySegment memory, Function<InternalError, VfioException> lost) {
    return new MmioRegion(memory, null, memory.byteSize(), lost);
  }

  /**
   * Registers that begin with mapped memory.
   *
   * @param memory aligned to 8 bytes at least; when its arena is closed the handler takes over. Its
   *     addresses stay mapped until the function is closed
   * @param size of the whole region in bytes, at least that of the memory
   * @param handler serves the accesses outside the memory
   */
  public static MmioRegion mapped(MemorySegment memory, long size, MmioHandler handler) {
    return new MmioRegion(memory, handler, size, null);
  }

  /** Registers whose every access is a call. */
  public static MmioRegion trapped(long size, MmioHandler handler) {
    return new MmioRegion(null, handler, size, null);
  }

  /** Length in bytes. */
  public long size() {
    return size;
  }

  /** Whether the CPU accesses the registers, or the first of them, without a call. */
  public boolean isMapped() {
    return mapped != null;
  }

  /**
   * Whether a store may reach the device after its call has returned, as on a bus. The device has
   * received it when a later load from any region of the function has returned.
   */
  public boolean isPosted() {
    return mapped != null || handler.isPosted();
  }

  /**
   * The address of a register of 8 bytes that is always memory while its function is open, for
   * stores that {@link org.hghca.vfio.direct.GuardedRegister} makes.
   *
   * @return 0 when each access must be checked or is a call
   * @throws IndexOutOfBoundsException for a register outside the region
   * @throws IllegalArgumentException for a misaligned one
   */
  public long address(long offset) {
    checked(offset, Long.BYTES);
    boolean isMemory = mapped != null && lost == null && offset <= mapped.byteSize() - Long.BYTES;
    return isMemory ? mapped.address() + offset : 0;
  }

  // The memory itself checks its bounds and its arena: only a failed access needs further checks.

  /** Reads one byte, 0 to 255. */
  public int readByte(long offset) {
    if (mapped != null) {
      try {
        int value = (byte) BYTE.getAcquire(mapped, offset) & 0xff;
        throwFault();
        return value;
      } catch (IndexOutOfBoundsException | IllegalStateException | InternalError e) {
        passOn(e);
      }
    }
    return (int) handler.read(checked(offset, 1), 1) & 0xff;
  }

  /** Writes the low 8 bits of a value. */
  public void writeByte(long offset, int value) {
    if (mapped != null) {
      try {
        BYTE.setRelease(mapped, offset, (byte) value);
        throwFault();
        return;
      } catch (IndexOutOfBoundsException | IllegalStateException | InternalError e) {
        passOn(e);
      }
    }
    handler.write(checked(offset, 1), 1, value & 0xffL);
  }

  /** Reads two bytes, 0 to 65535. */
  public int readShort(long offset) {
    if (mapped != null) {
      try {
        int value = (short) SHORT.getAcquire(mapped, offset) & 0xffff;
        throwFault();
        return value;
      } catch (IndexOutOfBoundsException | IllegalStateException | InternalError e) {
        passOn(e);
      }
    }
    return (int) handler.read(checked(offset, 2), 2) & 0xffff;
  }

  /** Writes the low 16 bits of a value. */
  public void writeShort(long offset, int value) {
    if (mapped != null) {
      try {
        SHORT.setRelease(mapped, offset, (short) value);
        throwFault();
        return;
      } catch (IndexOutOfBoundsException | IllegalStateException | InternalError e) {
        passOn(e);
      }
    }
    handler.write(checked(offset, 2), 2, value & 0xffffL);
  }

  public int readInt(long offset) {
    if (mapped != null) {
      try {
        int value = (int) INT.getAcquire(mapped, offset);
        throwFault();
        return value;
      } catch (IndexOutOfBoundsException | IllegalStateException | InternalError e) {
        passOn(e);
      }
    }
    return (int) handler.read(checked(offset, 4), 4);
  }

  public void writeInt(long offset, int value) {
    if (mapped != null) {
      try {
        INT.setRelease(mapped, offset, value);
        throwFault();
        return;
      } catch (IndexOutOfBoundsException | IllegalStateException | InternalError e) {
        passOn(e);
      }
    }
    handler.write(checked(offset, 4), 4, value & 0xffff_ffffL);
  }

  public long readLong(long offset) {
    if (mapped != null) {
      try {
        long value = (long) LONG.getAcquire(mapped, offset);
        throwFault();
        return value;
      } catch (IndexOutOfBoundsException | IllegalStateException | InternalError e) {
        passOn(e);
      }
    }
    return handler.read(checked(offset, 8), 8);
  }

  public void writeLong(long offset, long value) {
    if (mapped != null) {
      try {
        LONG.setRelease(mapped, offset, value);
        throwFault();
        return;
      } catch (IndexOutOfBoundsException | IllegalStateException | InternalError e) {
        passOn(e);
      }
    }
    handler.write(checked(offset, 8), 8, value);
  }

  /**
   * Reads a register of any width.
   *
   * @param width 1, 2, 4 or 8 bytes
   * @return the value, zero-extended
   */
  public long read(long offset, int width) {
    return switch (width) {
      case 1 -> readByte(offset);
      case 2 -> readShort(offset);
      case 4 -> Integer.toUnsignedLong(readInt(offset));
      case 8 -> readLong(offset);
      default -> throw new IllegalArgumentException(describe(offset, width));
    };
  }

  /**
   * Writes a register of any width.
   *
   * @param width 1, 2, 4 or 8 bytes
   * @param value its low bits are written
   */
  public void write(long offset, int width, long value) {
    switch (width) {
      case 1 -> writeByte(offset, (int) value);
      case 2 -> writeShort(offset, (int) value);
      case 4 -> writeInt(offset, (int) value);
      case 8 -> writeLong(offset, value);
      default -> throw new IllegalArgumentException(describe(offset, width));
    }
  }

  /** Leaves to the handler, if there is one, what the memory refused. */
  private void passOn(Throwable refusal) {
    if (refusal instanceof InternalError fault) {
      if (lost != null) {
        throw lost.apply(fault);
      }
      throw fault;
    }
    if (handler == null) {
      throw (RuntimeException) refusal;
    }
  }

  private void throwFault() {
    if (lost != null) {
      LostPages.throwFault();
    }
  }

  private long checked(long offset, int width) {
    if (offset < 0 || offset > size - width) {
      throw new IndexOutOfBoundsException(describe(offset, width));
    }
    if ((offset & (width - 1)) != 0) {
      throw new IllegalArgumentException("misaligned " + describe(offset, width));
    }
    return offset;
  }

  private String describe(long offset, int width) {
    return "access of %d bytes at 0x%x of a register region of 0x%x bytes"
        .formatted(width, offset, size);
  }
}

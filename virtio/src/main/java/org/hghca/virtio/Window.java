package org.hghca.virtio;

import org.hghca.vfio.MmioRegion;
import org.hghca.virtio.abi.Bytes;
import org.hghca.virtio.abi.Field;

/**
 * A structure of registers within a BAR. An access has the width of its field; a field of eight
 * bytes is accessed as two of four, the low one first. Thread-safe.
 *
 * @param registers of the BAR
 * @param base where the structure begins there, in bytes
 * @param length of the structure in bytes
 */
record Window(MmioRegion registers, long base, long length) {

  /**
   * Reads a field, zero-extended.
   *
   * @throws IndexOutOfBoundsException when the structure is too short for it
   */
  long read(Field field) {
    long at = at(field.offset(), field.width());
    return field.width() == Long.BYTES
        ? Integer.toUnsignedLong(registers.readInt(at)) | (long) registers.readInt(at + 4) << 32
        : registers.read(at, field.width());
  }

  /** Writes a field. */
  void write(Field field, long value) {
    long at = at(field.offset(), field.width());
    if (field.width() == Long.BYTES) {
      registers.writeInt(at, (int) value);
      registers.writeInt(at + 4, (int) (value >>> 32));
    } else {
      registers.write(at, field.width(), value);
    }
  }

  /** Reads bytes one by one. */
  byte[] read(Bytes bytes) {
    long at = at(bytes.offset(), bytes.length());
    byte[] values = new byte[bytes.length()];
    for (int i = 0; i < values.length; i++) {
      values[i] = (byte) registers.readByte(at + i);
    }
    return values;
  }

  private long at(long offset, int bytes) {
    if (offset < 0 || offset > length - bytes) {
      throw new IndexOutOfBoundsException(
          "%d bytes at %d of a structure of %d".formatted(bytes, offset, length));
    }
    return base + offset;
  }
}

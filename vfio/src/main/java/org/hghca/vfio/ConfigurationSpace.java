package org.hghca.vfio;

import java.util.Objects;

/**
 * The PCI configuration space of a function: 4096 bytes, little-endian, read and written in one
 * access of 1, 2 or 4 naturally aligned bytes. Thread-safe.
 */
public interface ConfigurationSpace {

  /** Length in bytes. */
  int SIZE = 4096;

  /** Offset of the command register. */
  int COMMAND = 0x04;

  /** Command register bit: the function decodes its memory regions. */
  int COMMAND_MEMORY_SPACE = 1 << 1;

  /** Command register bit: the function may start DMA. */
  int COMMAND_BUS_MASTER = 1 << 2;

  /**
   * Reads.
   *
   * @param width 1, 2 or 4 bytes
   * @return the value, zero-extended
   */
  int read(int offset, int width);

  void write(int offset, int width, int value);

  /**
   * Refuses invalid accesses: of another width, misaligned, or out of range.
   *
   * @throws IndexOutOfBoundsException naming the access
   */
  static void checkAccess(int offset, int width) {
    if (width != 1 && width != 2 && width != 4
        || (offset & (width - 1)) != 0
        || Objects.checkIndex(offset, SIZE) > SIZE - width) {
      throw new IndexOutOfBoundsException(
          "configuration access of %d bytes at 0x%x".formatted(width, offset));
    }
  }

  default int vendorId() {
    return read(0x00, 2);
  }

  default int deviceId() {
    return read(0x02, 2);
  }

  default int revisionId() {
    return read(0x08, 1);
  }

  /** Base class, subclass and programming interface, in 24 bits. */
  default int classCode() {
    return read(0x08, 4) >>> 8;
  }

  /**
   * Enables decoding of the function's memory regions.
   *
   * @return whether it is enabled: a function that is gone, or has no regions, does not keep the
   *     bit
   */
  default boolean enableMemorySpace() {
    int command = read(COMMAND, 2);
    if ((command & COMMAND_MEMORY_SPACE) == 0) {
      write(COMMAND, 2, command | COMMAND_MEMORY_SPACE);
      command = read(COMMAND, 2);
    }
    return (command & COMMAND_MEMORY_SPACE) != 0;
  }

  /** Sets or clears bus mastering. */
  default void busMaster(boolean on) {
    int command = read(COMMAND, 2);
    write(COMMAND, 2, on ? command | COMMAND_BUS_MASTER : command & ~COMMAND_BUS_MASTER);
  }
}

package org.hghca.model.card;

/**
 * The region of the interrupt vectors: the MSI-X table and the pending bits, as plain memory. The
 * component that delivers the interrupts (an I/O virtualisation layer, a connector in this process)
 * keeps its own table and does not read this one. Thread-safe.
 *
 * <pre>
 * 000h  table, 16 bytes a vector: address low, high, data, control (bit 0: masked)
 * 800h  pending bits, read-only
 * </pre>
 */
public final class MsixRegion {
  /** The base address register of this region. */
  public static final int BAR = 4;

  public static final int BYTES = 4096;
  public static final int TABLE = 0;
  public static final int PENDING = 0x800;

  private static final int ENTRY_BYTES = 16;
  private static final int CONTROL = 12;

  private final int tableBytes;
  private final byte[] table;

  /**
   * @param vectors how many, at most 128
   */
  public MsixRegion(int vectors) {
    tableBytes = vectors * ENTRY_BYTES;
    if (tableBytes > PENDING) {
      throw new IllegalArgumentException(vectors + " vectors have no room in the table");
    }
    table = new byte[tableBytes];
    reset();
  }

  /** Bytes outside the table read as 0. */
  public synchronized long read(long offset, int width) {
    long value = 0;
    for (int i = 0; i < width && offset + i < tableBytes; i++) {
      value |= (table[(int) offset + i] & 0xffL) << 8 * i;
    }
    return value;
  }

  public synchronized void write(long offset, int width, long value) {
    for (int i = 0; i < width && offset + i < tableBytes; i++) {
      table[(int) offset + i] = (byte) (value >> 8 * i);
    }
  }

  /** Every vector is masked, as after power-on. */
  public synchronized void reset() {
    for (int i = 0; i < tableBytes; i++) {
      table[i] = (byte) (i % ENTRY_BYTES == CONTROL ? 1 : 0);
    }
  }
}

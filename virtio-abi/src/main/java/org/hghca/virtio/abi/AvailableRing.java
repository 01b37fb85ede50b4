package org.hghca.virtio.abi;

/**
 * The ring that the driver writes: "The Virtqueue Available Ring". The event index follows the last
 * entry.
 */
public final class AvailableRing {
  /** Alignment in bytes. */
  public static final int ALIGNMENT = 2;

  /** {@link #FLAG_NO_INTERRUPT}. */
  public static final Field FLAGS = Field.le16("flags", 0);

  /** Where the driver puts the next entry, modulo 65536. */
  public static final Field INDEX = Field.le16("idx", 2);

  /** Offset of the first entry. */
  public static final int ENTRIES = 4;

  /** Bytes of an entry: the index of the first descriptor of a chain. */
  public static final int ENTRY_SIZE = 2;

  /** The driver wants no interrupt; advice, without {@link Feature#EVENT_IDX}. */
  public static final int FLAG_NO_INTERRUPT = 1;

  private AvailableRing() {}

  /** Offset of an entry. */
  public static int entry(int index) {
    return ENTRIES + ENTRY_SIZE * index;
  }

  /** Offset of used_event in a ring of so many entries. */
  public static int usedEvent(int entries) {
    return entry(entries);
  }

  /** Bytes of a ring of so many entries. */
  public static int size(int entries) {
    return usedEvent(entries) + 2;
  }
}

package org.hghca.virtio.abi;

/**
 * The ring that the device writes: "The Virtqueue Used Ring". The event index follows the last
 * entry.
 */
public final class UsedRing {
  /** Alignment in bytes. */
  public static final int ALIGNMENT = 4;

  /** {@link #FLAG_NO_NOTIFY}. */
  public static final Field FLAGS = Field.le16("flags", 0);

  /** Where the device puts the next entry, modulo 65536. */
  public static final Field INDEX = Field.le16("idx", 2);

  /** Offset of the first entry. */
  public static final int ENTRIES = 4;

  /** Bytes of an entry. */
  public static final int ENTRY_SIZE = 8;

  /** Of an entry: index of the first descriptor of the chain. */
  public static final Field ENTRY_ID = Field.le32("id", 0);

  /** Of an entry: bytes that the device wrote into the chain. */
  public static final Field ENTRY_LENGTH = Field.le32("len", 4);

  /** The device wants no notification; advice, without {@link Feature#EVENT_IDX}. */
  public static final int FLAG_NO_NOTIFY = 1;

  /** {@link #ENTRY_LENGTH} and {@link #ENTRY_ID}, as one number. */
  public static final Field ENTRY = Field.le64("len, id", 0);

  private UsedRing() {}

  /** Offset of an entry. */
  public static int entry(int index) {
    return ENTRIES + ENTRY_SIZE * index;
  }

  /** Offset of avail_event in a ring of so many entries. */
  public static int availableEvent(int entries) {
    return entry(entries);
  }

  /** Bytes of a ring of so many entries. */
  public static int size(int entries) {
    return availableEvent(entries) + 2;
  }
}

package org.hghca.abi;

import java.lang.foreign.MemorySegment;
import java.util.StringJoiner;
import java.util.function.LongUnaryOperator;

/**
 * Inbox of WRITE_MTT (interface document, tables 3-2-22 and 3-2-23): bus addresses of pages, in
 * groups of four, the last of a group first.
 *
 * <pre>
 *          +0       +1       +2       +3
 *     +-----------------------------------+
 * 00h |              reserved             |
 *  .. |                                   |
 * 18h |       mtt_start_index[63:32]      |
 * 1Ch |       mtt_start_index[31:0]       |
 *     +-----------------------------------+
 * 20h |     mtt_phy_addr[i+3], 64 bits    |
 * 28h |     mtt_phy_addr[i+2], 64 bits    |
 * 30h |     mtt_phy_addr[i+1], 64 bits    |
 * 38h |     mtt_phy_addr[i], 64 bits      |
 *     +-----------------------------------+
 * </pre>
 *
 * <p>In an incomplete group the entries are at the high addresses, with zeros before them. The
 * number of entries is the in_modifier. The start index counts entries from the beginning of the
 * MTT; no base is added.
 */
public final class WriteMtt {
  /** Maximum number of entries of a command; with 256 the RTL hangs. */
  public static final int MAX_ENTRIES = 255;

  /** Bytes of an entry in ICM. */
  public static final int ENTRY_SIZE = 8;

  /** 18h, 64 bits: index of the first entry written. */
  public static final MailboxField START_INDEX = MailboxField.qword("mtt_start_index", 0x18);

  /** The part before the entries, 32 bytes. */
  public static final MailboxLayout HEADER =
      MailboxLayout.of("WRITE_MTT", "table 3-2-22", 32, START_INDEX);

  private static final MailboxField PAGE = MailboxField.qword("mtt_phy_addr", 0x00);
  private static final int GROUP = 4;

  private WriteMtt() {}

  /**
   * Bytes of an inbox with {@code count} entries, a multiple of 32.
   *
   * @throws IllegalArgumentException if the count is not 1 to {@link #MAX_ENTRIES}
   */
  public static int size(int count) {
    if (count < 1 || count > MAX_ENTRIES) {
      throw new IllegalArgumentException(
          "WRITE_MTT takes 1 to " + MAX_ENTRIES + " entries, not " + count);
    }
    return HEADER.size() + (count + GROUP - 1) / GROUP * (GROUP * Long.BYTES);
  }

  /** Byte offset of entry {@code index} in the inbox. */
  public static int offset(int index) {
    return HEADER.size()
        + index / GROUP * (GROUP * Long.BYTES)
        + (GROUP - 1 - index % GROUP) * Long.BYTES;
  }

  /**
   * Writes {@code count} entries.
   *
   * @param startIndex index of the first in the MTT
   * @param page bus address of entry i, called for i from 0 to {@code count - 1} in order
   * @throws IllegalArgumentException if the count is not 1 to {@link #MAX_ENTRIES}
   */
  public static void encode(
      MemorySegment mailbox, long startIndex, int count, LongUnaryOperator page) {
    mailbox.asSlice(0, size(count)).fill((byte) 0);
    START_INDEX.setLong(mailbox, startIndex);
    for (int i = 0; i < count; i++) {
      PAGE.setLong(mailbox, offset(i), page.applyAsLong(i));
    }
  }

  /** As {@link #encode(MemorySegment, long, int, LongUnaryOperator)}, of the addresses given. */
  public static void encode(MemorySegment mailbox, long startIndex, long... pages) {
    encode(mailbox, startIndex, pages.length, i -> pages[(int) i]);
  }

  /** Reads the index of the first entry. */
  public static long startIndex(MemorySegment mailbox) {
    return START_INDEX.getLong(mailbox);
  }

  /** Reads the bus address of entry {@code index}. */
  public static long page(MemorySegment mailbox, int index) {
    return PAGE.getLong(mailbox, offset(index));
  }

  /** Writes another bus address into entry {@code index}. */
  public static void setPage(MemorySegment mailbox, int index, long address) {
    PAGE.setLong(mailbox, offset(index), address);
  }

  /** Start index and addresses in their order, for the command trace. */
  public static String describe(MemorySegment mailbox, int count) {
    size(count);
    StringJoiner text =
        new StringJoiner(
            " ", "mtt_start_index=0x" + Long.toHexString(startIndex(mailbox)) + " [", "]");
    for (int i = 0; i < count; i++) {
      text.add("0x" + Long.toHexString(page(mailbox, i)));
    }
    return text.toString();
  }
}

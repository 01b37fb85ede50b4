package org.hghca.abi;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;

/**
 * Inbox of MAP_ICM (interface document, tables 3-2-13 and 3-2-14): 16-byte entries in groups of
 * two, the later entry of a group first.
 *
 * <pre>
 *          +0       +1       +2       +3
 *     +-----------------------------------+
 * 00h |          virt[i+1][63:32]         |
 * 04h |          virt[i+1][31:0]          |
 * 08h |          page[i+1][63:32]         |
 * 0Ch | page[i+1][31:12] | page_num[i+1]  |
 * 10h |          virt[i][63:32]           |
 * 14h |          virt[i][31:0]            |
 * 18h |          page[i][63:32]           |
 * 1Ch |  page[i][31:12]  |  page_num[i]   |
 *     +-----------------------------------+
 * </pre>
 *
 * <p>With an odd count, the last entry is alone at +10h of its group, with zeros before it. The
 * number of entries is the in_modifier.
 */
public final class MapIcm {
  /** op_modifier for QPC, CQC and EQC. */
  public static final int CONTEXTS = 1;

  /** op_modifier for MPT and MTT. */
  public static final int TRANSLATION = 2;

  /** Entries that a mailbox of 4096 bytes holds. Profiles allow less. */
  public static final int MAX_ENTRIES = 256;

  /** Bytes of an ICM page. */
  public static final int PAGE_SIZE = 4096;

  /** 00h of the entry, 64 bits: ICM address of the first page. */
  public static final MailboxField VIRTUAL_ADDRESS = MailboxField.qword("virt", 0x00);

  /** 08h[63:12] of the entry, in place: bus address of the first page. */
  public static final MailboxField PAGE_ADDRESS = MailboxField.qword("page", 0x08, 63, 12);

  /** 0Ch[11:0] of the entry: number of pages. */
  public static final MailboxField PAGES = MailboxField.bits("page_num", 0x0C, 11, 0);

  /** One entry, 16 bytes. */
  public static final MailboxLayout ENTRY =
      MailboxLayout.of("MAP_ICM entry", "table 3-2-14", 16, VIRTUAL_ADDRESS, PAGE_ADDRESS, PAGES);

  private static final int GROUP_SIZE = 32;

  private MapIcm() {}

  /**
   * Bytes of an inbox with {@code count} entries, a multiple of 32.
   *
   * @throws IllegalArgumentException if the count is not 1 to {@link #MAX_ENTRIES}
   */
  public static int size(int count) {
    if (count < 1 || count > MAX_ENTRIES) {
      throw new IllegalArgumentException(
          "MAP_ICM takes 1 to " + MAX_ENTRIES + " entries, not " + count);
    }
    return (count + 1) / 2 * GROUP_SIZE;
  }

  /** Byte offset of entry {@code index} in the inbox. */
  public static int offset(int index) {
    return index / 2 * GROUP_SIZE + (index % 2 == 0 ? ENTRY.size() : 0);
  }

  /**
   * Writes the entries.
   *
   * @throws IllegalArgumentException if their number is not 1 to {@link #MAX_ENTRIES}, a page
   *     address is not a multiple of 4096, or a number of pages has more than 12 bits
   */
  public static void encode(MemorySegment mailbox, List<IcmChunk> chunks) {
    mailbox.asSlice(0, size(chunks.size())).fill((byte) 0);
    for (int i = 0; i < chunks.size(); i++) {
      IcmChunk chunk = chunks.get(i);
      int base = offset(i);
      VIRTUAL_ADDRESS.setLong(mailbox, base, chunk.virtualAddress());
      PAGE_ADDRESS.setLong(mailbox, base, chunk.pageAddress());
      PAGES.set(mailbox, base, chunk.pages());
    }
  }

  /**
   * Reads {@code count} entries.
   *
   * @throws IllegalArgumentException if the count is not 1 to {@link #MAX_ENTRIES}
   */
  public static List<IcmChunk> decode(MemorySegment mailbox, int count) {
    List<IcmChunk> chunks = new ArrayList<>(size(count) / ENTRY.size());
    for (int i = 0; i < count; i++) {
      int base = offset(i);
      chunks.add(
          new IcmChunk(
              VIRTUAL_ADDRESS.getLong(mailbox, base),
              PAGE_ADDRESS.getLong(mailbox, base),
              PAGES.get(mailbox, base)));
    }
    return List.copyOf(chunks);
  }

  /**
   * The entries in their order, for the command trace: {@code [virt=0x.. page=0x.. page_num=0x1]}.
   */
  public static String describe(MemorySegment mailbox, int count) {
    size(count);
    StringJoiner text = new StringJoiner(" ");
    for (int i = 0; i < count; i++) {
      text.add("[" + ENTRY.describe(mailbox, offset(i)) + "]");
    }
    return text.toString();
  }
}

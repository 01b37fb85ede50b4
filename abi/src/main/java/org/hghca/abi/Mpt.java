package org.hghca.abi;

import java.lang.foreign.MemorySegment;

/**
 * Inbox of SW2HW_MPT: an entry of the memory protection table (interface document, tables 3-2-17
 * and 3-2-18).
 *
 * <pre>
 *           +0       +1       +2       +3
 *      +-----------------------------------+
 *  00h |               flags               |
 *  04h |             page_size             |
 *  08h |                key                |
 *  0Ch |                pd                 |
 *  10h |            start[63:32]           |
 *  14h |            start[31:0]            |
 *  18h |            length[63:32]          |
 *  1Ch |            length[31:0]           |
 *  20h |                lkey               |
 *  24h |            window_count           |
 *  28h |         window_count_limit        |
 *  2Ch |           mtt_seg[63:32]          |
 *  30h |           mtt_seg[31:0]           |
 *  34h |               mtt_sz              |
 *  38h |              reserved             |
 *  3Ch |              reserved             |
 *      +-----------------------------------+
 * </pre>
 *
 * @param flags attributes and access rights, {@link MptFlags}
 * @param pageSize log2 of the page size in bytes, minus 12; the RTL ignores it and uses 4096
 * @param key lkey and rkey; its low bits are the index of the entry
 * @param pd protection domain
 * @param start first virtual address
 * @param length bytes
 * @param lkey unused
 * @param windowCount unused
 * @param windowCountLimit unused
 * @param mttSegment index of the first MTT entry
 * @param mttSize unused
 */
public record Mpt(
    int flags,
    int pageSize,
    int key,
    int pd,
    long start,
    long length,
    int lkey,
    int windowCount,
    int windowCountLimit,
    long mttSegment,
    int mttSize) {
  /** Bytes from one entry to the next in ICM. */
  public static final int ENTRY_SIZE = 64;

  /** 00h: attributes and access rights, {@link MptFlags}. */
  public static final MailboxField FLAGS = MailboxField.dword("flags", 0x00);

  /** 04h: log2 of the page size in bytes, minus 12; the RTL ignores it and uses 4096. */
  public static final MailboxField PAGE_SIZE = MailboxField.dword("page_size", 0x04);

  /** 08h: lkey and rkey; its low bits are the index of the entry. */
  public static final MailboxField KEY = MailboxField.dword("key", 0x08);

  /** 0Ch: protection domain. */
  public static final MailboxField PD = MailboxField.dword("pd", 0x0C);

  /** 10h, 64 bits: first virtual address. */
  public static final MailboxField START = MailboxField.qword("start", 0x10);

  /** 18h, 64 bits: bytes. */
  public static final MailboxField LENGTH = MailboxField.qword("length", 0x18);

  /** 20h: unused. */
  public static final MailboxField LKEY = MailboxField.dword("lkey", 0x20);

  /** 24h: unused. */
  public static final MailboxField WINDOW_COUNT = MailboxField.dword("window_count", 0x24);

  /** 28h: unused. */
  public static final MailboxField WINDOW_COUNT_LIMIT =
      MailboxField.dword("window_count_limit", 0x28);

  /** 2Ch, 64 bits: index of the first MTT entry. */
  public static final MailboxField MTT_SEGMENT = MailboxField.qword("mtt_seg", 0x2C);

  /** 34h: unused. */
  public static final MailboxField MTT_SIZE = MailboxField.dword("mtt_sz", 0x34);

  /** The whole body, 64 bytes. */
  public static final MailboxLayout LAYOUT =
      MailboxLayout.of(
          "MPT",
          "table 3-2-17",
          64,
          FLAGS,
          PAGE_SIZE,
          KEY,
          PD,
          START,
          LENGTH,
          LKEY,
          WINDOW_COUNT,
          WINDOW_COUNT_LIMIT,
          MTT_SEGMENT,
          MTT_SIZE);

  /** Writes the body, reserved bits as zero. */
  public void encode(MemorySegment mailbox) {
    LAYOUT.clear(mailbox);
    FLAGS.set(mailbox, flags);
    PAGE_SIZE.set(mailbox, pageSize);
    KEY.set(mailbox, key);
    PD.set(mailbox, pd);
    START.setLong(mailbox, start);
    LENGTH.setLong(mailbox, length);
    LKEY.set(mailbox, lkey);
    WINDOW_COUNT.set(mailbox, windowCount);
    WINDOW_COUNT_LIMIT.set(mailbox, windowCountLimit);
    MTT_SEGMENT.setLong(mailbox, mttSegment);
    MTT_SIZE.set(mailbox, mttSize);
  }

  /** Reads a body. */
  public static Mpt decode(MemorySegment mailbox) {
    return new Mpt(
        FLAGS.get(mailbox),
        PAGE_SIZE.get(mailbox),
        KEY.get(mailbox),
        PD.get(mailbox),
        START.getLong(mailbox),
        LENGTH.getLong(mailbox),
        LKEY.get(mailbox),
        WINDOW_COUNT.get(mailbox),
        WINDOW_COUNT_LIMIT.get(mailbox),
        MTT_SEGMENT.getLong(mailbox),
        MTT_SIZE.get(mailbox));
  }
}

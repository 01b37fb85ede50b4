package org.hghca.abi;

import java.lang.foreign.MemorySegment;

/**
 * Inbox of RESIZE_CQ (interface document, tables 3-2-37 and 3-2-38).
 *
 * <pre>
 *          +0       +1       +2       +3
 *     +-----------------------------------+
 * 00h |logsize |         reserved         |
 * 04h |                lkey               |
 * 08h |              reserved             |
 *  .. |                                   |
 * 1Ch |                                   |
 *     +-----------------------------------+
 * </pre>
 *
 * <p>The RTL answers OK but then fails: it never executes its next context command.
 *
 * @param logSize log2 of the number of CQEs
 * @param lkey key of the queue's memory
 */
public record ResizeCq(int logSize, int lkey) {
  /** 00h[31:24]: log2 of the number of CQEs. */
  public static final MailboxField LOG_SIZE = MailboxField.bits("logsize", 0x00, 31, 24);

  /** 04h: key of the queue's memory. */
  public static final MailboxField LKEY = MailboxField.dword("lkey", 0x04);

  /** The whole body, 32 bytes. */
  public static final MailboxLayout LAYOUT =
      MailboxLayout.of("RESIZE_CQ", "table 3-2-37", 32, LOG_SIZE, LKEY);

  /** Writes the body, reserved bits as zero. */
  public void encode(MemorySegment mailbox) {
    LAYOUT.clear(mailbox);
    LOG_SIZE.set(mailbox, logSize);
    LKEY.set(mailbox, lkey);
  }

  /** Reads a body. */
  public static ResizeCq decode(MemorySegment mailbox) {
    return new ResizeCq(LOG_SIZE.get(mailbox), LKEY.get(mailbox));
  }
}

package org.hghca.abi;

import java.lang.foreign.MemorySegment;

/**
 * Outbox of QUERY_ADAPTER (interface document, tables 3-2-6 and 3-2-7).
 *
 * <pre>
 *          +0       +1       +2       +3
 *     +-----------------------------------+
 * 00h |              reserved             |
 *  .. |                                   |
 * 18h |           board_id[63:32]         |
 * 1Ch |           board_id[31:0]          |
 *     +-----------------------------------+
 * </pre>
 *
 * @param boardId id of the board
 */
public record AdapterInfo(long boardId) {
  /** 18h, 64 bits: id of the board. */
  public static final MailboxField BOARD_ID = MailboxField.qword("board_id", 0x18);

  /** The whole body, 32 bytes. */
  public static final MailboxLayout LAYOUT =
      MailboxLayout.of("ADAPTER", "table 3-2-6", 32, BOARD_ID);

  /** Writes the body, reserved bits as zero. */
  public void encode(MemorySegment mailbox) {
    LAYOUT.clear(mailbox);
    BOARD_ID.setLong(mailbox, boardId);
  }

  /** Reads a body. */
  public static AdapterInfo decode(MemorySegment mailbox) {
    return new AdapterInfo(BOARD_ID.getLong(mailbox));
  }
}

package org.hghca.abi;

import java.lang.foreign.MemorySegment;

/**
 * Inbox of SW2HW_CQ (interface document, tables 3-2-32 to 3-2-34).
 *
 * <pre>
 *           +0       +1       +2       +3
 *      +-----------------------------------+
 *  00h |               flags               |
 *  04h |            start[63:32]           |
 *  08h |            start[31:0]            |
 *  0Ch |logsize |         usrpage          |
 *  10h |             comp_eqn              |
 *  14h |                pd                 |
 *  18h |               lkey                |
 *  1Ch |              reserved             |
 *   .. |                                   |
 *  2Ch |                cqn                |
 *  30h |              reserved             |
 *   .. |                                   |
 *      +-----------------------------------+
 * </pre>
 *
 * @param flags see {@link #TRANSLATE} and {@link #ARMED}; status 0 in [31:28] is OK
 * @param start first virtual address of the queue
 * @param logSize log2 of the number of CQEs
 * @param usrPage UAR page, unused
 * @param compEqn EQ that takes the completion events
 * @param pd protection domain; the RTL requires that of the queue's memory
 * @param lkey key of the queue's memory
 * @param cqn number of the CQ
 */
public record CompletionQueueContext(
    int flags, long start, int logSize, int usrPage, int compEqn, int pd, int lkey, int cqn) {
  /** 00h: see {@link #TRANSLATE} and {@link #ARMED}; status 0 in [31:28] is OK. */
  public static final MailboxField FLAGS = MailboxField.dword("flags", 0x00);

  /** 04h, 64 bits: first virtual address of the queue. */
  public static final MailboxField START = MailboxField.qword("start", 0x04);

  /** 0Ch[31:24]: log2 of the number of CQEs. */
  public static final MailboxField LOG_SIZE = MailboxField.bits("logsize", 0x0C, 31, 24);

  /** 0Ch[23:0]: UAR page, unused. */
  public static final MailboxField USR_PAGE = MailboxField.bits("usrpage", 0x0C, 23, 0);

  /** 10h: EQ that takes the completion events. */
  public static final MailboxField COMP_EQN = MailboxField.dword("comp_eqn", 0x10);

  /** 14h: protection domain; the RTL requires that of the queue's memory. */
  public static final MailboxField PD = MailboxField.dword("pd", 0x14);

  /** 18h: key of the queue's memory. */
  public static final MailboxField LKEY = MailboxField.dword("lkey", 0x18);

  /** 2Ch: number of the CQ. */
  public static final MailboxField CQN = MailboxField.dword("cqn", 0x2C);

  /** The whole body, 64 bytes. */
  public static final MailboxLayout LAYOUT =
      MailboxLayout.of(
          "CQC", "table 3-2-32", 64, FLAGS, START, LOG_SIZE, USR_PAGE, COMP_EQN, PD, LKEY, CQN);

  /** flags[18], HGHCA_CQ_FLAG_TR: the queue's addresses are translated. */
  public static final int TRANSLATE = 1 << 18;

  /** flags[8], HGHCA_CQ_STATE_ARMED: the next completion gives an event. */
  public static final int ARMED = 1 << 8;

  /** Writes the body, reserved bits as zero. */
  public void encode(MemorySegment mailbox) {
    LAYOUT.clear(mailbox);
    FLAGS.set(mailbox, flags);
    START.setLong(mailbox, start);
    LOG_SIZE.set(mailbox, logSize);
    USR_PAGE.set(mailbox, usrPage);
    COMP_EQN.set(mailbox, compEqn);
    PD.set(mailbox, pd);
    LKEY.set(mailbox, lkey);
    CQN.set(mailbox, cqn);
  }

  /** Reads a body. */
  public static CompletionQueueContext decode(MemorySegment mailbox) {
    return new CompletionQueueContext(
        FLAGS.get(mailbox),
        START.getLong(mailbox),
        LOG_SIZE.get(mailbox),
        USR_PAGE.get(mailbox),
        COMP_EQN.get(mailbox),
        PD.get(mailbox),
        LKEY.get(mailbox),
        CQN.get(mailbox));
  }
}

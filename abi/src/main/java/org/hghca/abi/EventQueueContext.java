package org.hghca.abi;

import java.lang.foreign.MemorySegment;

/**
 * Inbox of SW2HW_EQ (interface document, tables 3-2-27 to 3-2-29).
 *
 * <pre>
 *           +0       +1       +2       +3
 *      +-----------------------------------+
 *  00h |               flags               |
 *  04h |            start[63:32]           |
 *  08h |            start[31:0]            |
 *  0Ch |logsize |         reserved         |
 *  10h |              reserved             |
 *  14h |          reserved        |  intr  |
 *  18h |                pd                 |
 *  1Ch |               lkey                |
 *  20h |              reserved             |
 *  24h |              reserved             |
 *  28h |          consumer_index           |
 *  2Ch |          producer_index           |
 *  30h |              reserved             |
 *   .. |                                   |
 *      +-----------------------------------+
 * </pre>
 *
 * @param flags see {@link #OWNER_HW}, {@link #TRANSLATE}, {@link #ARMED}; status 0 in [31:28] is OK
 * @param start first virtual address of the queue
 * @param logSize log2 of the number of EQEs
 * @param interrupt interrupt vector
 * @param pd protection domain of the queue's memory
 * @param lkey key of the queue's memory
 * @param consumerIndex consumer index
 * @param producerIndex producer index
 */
public record EventQueueContext(
    int flags,
    long start,
    int logSize,
    int interrupt,
    int pd,
    int lkey,
    int consumerIndex,
    int producerIndex) {
  /** 00h: see {@link #OWNER_HW}, {@link #TRANSLATE}, {@link #ARMED}; status 0 in [31:28] is OK. */
  public static final MailboxField FLAGS = MailboxField.dword("flags", 0x00);

  /** 04h, 64 bits: first virtual address of the queue. */
  public static final MailboxField START = MailboxField.qword("start", 0x04);

  /** 0Ch[31:24]: log2 of the number of EQEs. */
  public static final MailboxField LOG_SIZE = MailboxField.bits("logsize", 0x0C, 31, 24);

  /** 14h[7:0]: interrupt vector. */
  public static final MailboxField INTERRUPT = MailboxField.bits("intr", 0x14, 7, 0);

  /** 18h: protection domain of the queue's memory. */
  public static final MailboxField PD = MailboxField.dword("pd", 0x18);

  /** 1Ch: key of the queue's memory. */
  public static final MailboxField LKEY = MailboxField.dword("lkey", 0x1C);

  /** 28h: consumer index. */
  public static final MailboxField CONSUMER_INDEX = MailboxField.dword("consumer_index", 0x28);

  /** 2Ch: producer index. */
  public static final MailboxField PRODUCER_INDEX = MailboxField.dword("producer_index", 0x2C);

  /** The whole body, 64 bytes. */
  public static final MailboxLayout LAYOUT =
      MailboxLayout.of(
          "EQC",
          "table 3-2-27",
          64,
          FLAGS,
          START,
          LOG_SIZE,
          INTERRUPT,
          PD,
          LKEY,
          CONSUMER_INDEX,
          PRODUCER_INDEX);

  /** flags[24], HGHCA_EQ_OWNER_HW: the card owns the queue. */
  public static final int OWNER_HW = 1 << 24;

  /** flags[18], HGHCA_EQ_FLAG_TR: the queue's addresses are translated. */
  public static final int TRANSLATE = 1 << 18;

  /** flags[8], HGHCA_EQ_STATE_ARMED: the next event raises the interrupt. */
  public static final int ARMED = 1 << 8;

  /** Writes the body, reserved bits as zero. */
  public void encode(MemorySegment mailbox) {
    LAYOUT.clear(mailbox);
    FLAGS.set(mailbox, flags);
    START.setLong(mailbox, start);
    LOG_SIZE.set(mailbox, logSize);
    INTERRUPT.set(mailbox, interrupt);
    PD.set(mailbox, pd);
    LKEY.set(mailbox, lkey);
    CONSUMER_INDEX.set(mailbox, consumerIndex);
    PRODUCER_INDEX.set(mailbox, producerIndex);
  }

  /** Reads a body. */
  public static EventQueueContext decode(MemorySegment mailbox) {
    return new EventQueueContext(
        FLAGS.get(mailbox),
        START.getLong(mailbox),
        LOG_SIZE.get(mailbox),
        INTERRUPT.get(mailbox),
        PD.get(mailbox),
        LKEY.get(mailbox),
        CONSUMER_INDEX.get(mailbox),
        PRODUCER_INDEX.get(mailbox));
  }
}

package org.hghca.abi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * EXTENSION. The context of a shared receive queue: inbox of SW2HW_SRQ and RESIZE_SRQ, outbox of
 * QUERY_SRQ, with the layout of the cards from which this one is derived.
 *
 * <pre>
 *           +0       +1       +2       +3
 *      +-----------------------------------+
 *  00h |st| logsz |          srqn          |
 *  04h |               lkey                |
 *  08h |              db_index             |
 *  0Ch |stride| 0 |         usrpage        |
 *  10h |          wqe_base[63:32]          |
 *  14h |          wqe_base[31:0]           |
 *  18h |                pd                 |
 *  1Ch | limit_watermark |     wqe_cnt     |
 *  20h |    reserved     |   wqe_counter   |
 *  24h |              reserved             |
 *   .. |                                   |
 *      +-----------------------------------+
 * </pre>
 *
 * <p>The queue is a chain of receive WQEs in the slots of a ring. The first one is in slot 0; nda
 * of the next unit gives the slot of its successor. A WQE is posted when the {@linkplain
 * #writeCount count} in the region includes it. A slot may therefore be reused by any later WQE
 * after its completion was polled; a CQE identifies the WQE by its offset in the ring.
 *
 * <p>The limit applies to the WQEs that no message has taken: when a message takes one and fewer
 * than the limit are left, the event {@link EventType#SRQ_LIMIT} is raised and the limit becomes 0.
 * The same happens when ARM_SRQ sets a limit above the number that is left.
 *
 * @param state 0, on QUERY_SRQ 1 for one in error
 * @param logSize log2 of the slots
 * @param srqn number of the queue
 * @param lkey key of the memory
 * @param countOffset byte offset of the count in the region, a multiple of 4
 * @param strideLog log2 of the bytes of a slot
 * @param usrPage UAR page, unused
 * @param ringOffset byte offset of slot 0 in the region
 * @param pd protection domain of the memory and of the buffers
 * @param limit see above, 0 for none
 * @param posted on QUERY_SRQ, number of WQEs that no message has taken
 * @param taken on QUERY_SRQ, number of messages that have taken one, modulo 2^16
 */
public record SrqContext(
    int state,
    int logSize,
    int srqn,
    int lkey,
    int countOffset,
    int strideLog,
    int usrPage,
    long ringOffset,
    int pd,
    int limit,
    int posted,
    int taken) {
  /** 00h[31:28]: 0, or 1 for one in error. */
  public static final MailboxField STATE = MailboxField.bits("state", 0x00, 31, 28);

  /** 00h[27:24]: log2 of the slots. */
  public static final MailboxField LOG_SIZE = MailboxField.bits("logsize", 0x00, 27, 24);

  /** 00h[23:0]: number of the queue. */
  public static final MailboxField SRQN = MailboxField.bits("srqn", 0x00, 23, 0);

  /** 04h: key of the memory. */
  public static final MailboxField LKEY = MailboxField.dword("lkey", 0x04);

  /** 08h: byte offset of the count in the region. */
  public static final MailboxField COUNT_OFFSET = MailboxField.dword("db_index", 0x08);

  /** 0Ch[31:27]: log2 of the bytes of a slot. */
  public static final MailboxField STRIDE_LOG = MailboxField.bits("logstride", 0x0C, 31, 27);

  /** 0Ch[23:0]: UAR page, unused. */
  public static final MailboxField USR_PAGE = MailboxField.bits("usrpage", 0x0C, 23, 0);

  /** 10h, 64 bits: byte offset of slot 0 in the region. */
  public static final MailboxField RING_OFFSET = MailboxField.qword("wqe_base", 0x10);

  /** 18h: protection domain. */
  public static final MailboxField PD = MailboxField.dword("pd", 0x18);

  /** 1Ch[31:16]: the limit, 0 for none. */
  public static final MailboxField LIMIT = MailboxField.bits("limit_watermark", 0x1C, 31, 16);

  /** 1Ch[15:0]: WQEs that no message has taken. */
  public static final MailboxField POSTED = MailboxField.bits("wqe_cnt", 0x1C, 15, 0);

  /** 20h[15:0]: number of WQEs taken, modulo 2^16. */
  public static final MailboxField TAKEN = MailboxField.bits("wqe_counter", 0x20, 15, 0);

  /** The whole body, 64 bytes. */
  public static final MailboxLayout LAYOUT =
      MailboxLayout.of(
          "SRQC",
          "EXTENSION",
          64,
          STATE,
          LOG_SIZE,
          SRQN,
          LKEY,
          COUNT_OFFSET,
          STRIDE_LOG,
          USR_PAGE,
          RING_OFFSET,
          PD,
          LIMIT,
          POSTED,
          TAKEN);

  /** Bytes of the count of posted WQEs. */
  public static final int COUNT_SIZE = Integer.BYTES;

  private static final VarHandle COUNT =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN).varHandle();

  /** Writes the body, reserved bits as zero. */
  public void encode(MemorySegment mailbox) {
    LAYOUT.clear(mailbox);
    STATE.set(mailbox, state);
    LOG_SIZE.set(mailbox, logSize);
    SRQN.set(mailbox, srqn);
    LKEY.set(mailbox, lkey);
    COUNT_OFFSET.set(mailbox, countOffset);
    STRIDE_LOG.set(mailbox, strideLog);
    USR_PAGE.set(mailbox, usrPage);
    RING_OFFSET.setLong(mailbox, ringOffset);
    PD.set(mailbox, pd);
    LIMIT.set(mailbox, limit);
    POSTED.set(mailbox, posted);
    TAKEN.set(mailbox, taken);
  }

  /** Reads a body. */
  public static SrqContext decode(MemorySegment mailbox) {
    return new SrqContext(
        STATE.get(mailbox),
        LOG_SIZE.get(mailbox),
        SRQN.get(mailbox),
        LKEY.get(mailbox),
        COUNT_OFFSET.get(mailbox),
        STRIDE_LOG.get(mailbox),
        USR_PAGE.get(mailbox),
        RING_OFFSET.getLong(mailbox),
        PD.get(mailbox),
        LIMIT.get(mailbox),
        POSTED.get(mailbox),
        TAKEN.get(mailbox));
  }

  /**
   * Posts all WQEs up to a number, which counts from 0 and wraps at 2^32: a reader that sees the
   * count sees the WQEs. Big-endian, at a multiple of 4 in native memory.
   */
  public static void writeCount(MemorySegment segment, long offset, int count) {
    COUNT.setRelease(segment, offset, count);
  }

  /** Number of WQEs posted, modulo 2^32. */
  public static int readCount(MemorySegment segment, long offset) {
    return (int) COUNT.getAcquire(segment, offset);
  }
}

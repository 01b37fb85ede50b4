package org.hghca.abi;

import java.lang.foreign.MemorySegment;

/**
 * Inbox of INIT_HCA (interface document, tables 3-2-9 and 3-2-10): where the tables lie in ICM.
 *
 * <pre>
 *           +0       +1       +2       +3
 *      +----------------------------------------+
 *  00h |                reserved                |
 *  04h |                reserved                |
 *  08h |            qpc_base[63:32]             |
 *  0Ch |       qpc_base[31:8]     | log_num_qps |
 *  10h |            cqc_base[63:32]             |
 *  14h |       cqc_base[31:8]     | log_num_cqs |
 *  18h |            eqc_base[63:32]             |
 *  1Ch |       eqc_base[31:8]     | log_num_eqs |
 *  20h |                reserved                |
 *   .. |                                        |
 *  30h |            mpt_base[63:32]             |
 *  34h |       mpt_base[31:8]     | log_mpt_sz  |
 *  38h |            mtt_base[63:32]             |
 *  3Ch |            mtt_base[31:0]              |
 *      +----------------------------------------+
 * </pre>
 *
 * <p>All bases except that of the MTT are multiples of 256. The RTL distinguishes the tables of a
 * MAP_ICM by these bases: they must differ, and INIT_HCA must come before MAP_ICM.
 *
 * @param qpcBase ICM address of QPC 0
 * @param logQps log2 of the number of QPCs
 * @param cqcBase ICM address of CQC 0
 * @param logCqs log2 of the number of CQCs
 * @param eqcBase ICM address of EQC 0
 * @param logEqs log2 of the number of EQCs
 * @param mptBase ICM address of MPT entry 0
 * @param logMpts log2 of the number of MPT entries
 * @param mttBase ICM address of MTT entry 0
 */
public record InitHca(
    long qpcBase,
    int logQps,
    long cqcBase,
    int logCqs,
    long eqcBase,
    int logEqs,
    long mptBase,
    int logMpts,
    long mttBase) {
  /** 08h[63:8], in place: ICM address of QPC 0. */
  public static final MailboxField QPC_BASE = MailboxField.qword("qpc_base", 0x08, 63, 8);

  /** 0Ch[7:0]: log2 of the number of QPCs. */
  public static final MailboxField LOG_QPS = MailboxField.bits("log_num_qps", 0x0C, 7, 0);

  /** 10h[63:8], in place: ICM address of CQC 0. */
  public static final MailboxField CQC_BASE = MailboxField.qword("cqc_base", 0x10, 63, 8);

  /** 14h[7:0]: log2 of the number of CQCs. */
  public static final MailboxField LOG_CQS = MailboxField.bits("log_num_cqs", 0x14, 7, 0);

  /** 18h[63:8], in place: ICM address of EQC 0. */
  public static final MailboxField EQC_BASE = MailboxField.qword("eqc_base", 0x18, 63, 8);

  /** 1Ch[7:0]: log2 of the number of EQCs. */
  public static final MailboxField LOG_EQS = MailboxField.bits("log_num_eqs", 0x1C, 7, 0);

  /** 30h[63:8], in place: ICM address of MPT entry 0. */
  public static final MailboxField MPT_BASE = MailboxField.qword("mpt_base", 0x30, 63, 8);

  /** 34h[7:0]: log2 of the number of MPT entries. */
  public static final MailboxField LOG_MPTS = MailboxField.bits("log_mpt_sz", 0x34, 7, 0);

  /** 38h, 64 bits: ICM address of MTT entry 0. */
  public static final MailboxField MTT_BASE = MailboxField.qword("mtt_base", 0x38);

  /** The whole body, 64 bytes. */
  public static final MailboxLayout LAYOUT =
      MailboxLayout.of(
          "INIT_HCA",
          "table 3-2-9",
          64,
          QPC_BASE,
          LOG_QPS,
          CQC_BASE,
          LOG_CQS,
          EQC_BASE,
          LOG_EQS,
          MPT_BASE,
          LOG_MPTS,
          MTT_BASE);

  /** Writes the body, reserved bits as zero. */
  public void encode(MemorySegment mailbox) {
    LAYOUT.clear(mailbox);
    QPC_BASE.setLong(mailbox, qpcBase);
    LOG_QPS.set(mailbox, logQps);
    CQC_BASE.setLong(mailbox, cqcBase);
    LOG_CQS.set(mailbox, logCqs);
    EQC_BASE.setLong(mailbox, eqcBase);
    LOG_EQS.set(mailbox, logEqs);
    MPT_BASE.setLong(mailbox, mptBase);
    LOG_MPTS.set(mailbox, logMpts);
    MTT_BASE.setLong(mailbox, mttBase);
  }

  /** Reads a body. */
  public static InitHca decode(MemorySegment mailbox) {
    return new InitHca(
        QPC_BASE.getLong(mailbox),
        LOG_QPS.get(mailbox),
        CQC_BASE.getLong(mailbox),
        LOG_CQS.get(mailbox),
        EQC_BASE.getLong(mailbox),
        LOG_EQS.get(mailbox),
        MPT_BASE.getLong(mailbox),
        LOG_MPTS.get(mailbox),
        MTT_BASE.getLong(mailbox));
  }
}

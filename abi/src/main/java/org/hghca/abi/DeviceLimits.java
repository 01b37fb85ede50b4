package org.hghca.abi;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * Outbox of QUERY_DEV_LIM (interface document, tables 3-2-3 and 3-2-4), every field as the card
 * returns it.
 *
 * <pre>
 *           +0           +1           +2            +3
 *      +------------------------------------------------------+
 *  00h |reserved_qp |reserved_cq  |reserved_eq |reserved_mtt  |
 *  04h |            |reserved_pd  |            |reserved_lkey |
 *  08h |       max_qp_sz          |        max_cq_sz          |
 *  0Ch |  max_qps   |  max_cqs    |  max_eqs   |  max_mpts    |
 *  10h |  max_pds   |             |  max_gids  |  max_pkeys   |
 *  14h |            | max_mtt_seg |                           |
 *  18h |       qpc_entry_sz       |      cqc_entry_sz         |
 *  1Ch |       eqc_entry_sz       |      mpt_entry_sz         |
 *  20h |   | delay  | mtu |width  |            | vl  |ports   |
 *  24h |            | min_page_sz |                           |
 *  28h |            |   max_sg    |      max_desc_sz          |
 *  2Ch |            |  max_sg_rq  |      max_desc_sz_rq       |
 *  30h |                  max_icm_sz[63:32]                   |
 *  34h |                  max_icm_sz[31:0]                    |
 *  38h |        reserved; EXTENSION: DeviceExtension          |
 *  3Ch |                                                      |
 *      +------------------------------------------------------+
 * </pre>
 *
 * <p>Components whose name ends in {@code Log} hold a logarithm; the methods without it give the
 * number, {@link Integer#MAX_VALUE} where it is larger.
 *
 * @param reservedQpsLog log2 of the reserved QPs
 * @param reservedCqsLog log2 of the reserved CQs
 * @param reservedEqsLog log2 of the reserved EQs
 * @param reservedMttsLog log2 of the reserved MTT entries
 * @param reservedPdsLog log2 of the reserved PDs
 * @param reservedLkeysLog log2 of the reserved keys
 * @param maxQpSizeLog log2 of the maximum number of WQEs in a queue
 * @param maxCqSizeLog log2 of the maximum number of CQEs in a CQ
 * @param maxQpsLog log2 of the maximum number of QPs
 * @param maxCqsLog log2 of the maximum number of CQs
 * @param maxEqsLog log2 of the maximum number of EQs
 * @param maxMptsLog log2 of the maximum number of MPT entries
 * @param maxPdsLog log2 of the maximum number of PDs
 * @param maxGidsLog log2 of the GIDs
 * @param maxPkeysLog log2 of the P_Keys
 * @param mttEntrySize bytes of an MTT entry
 * @param qpcEntrySize bytes of a QPC in ICM
 * @param cqcEntrySize bytes of a CQC in ICM; the RTL says 128 and uses 64
 * @param eqcEntrySize bytes of an EQC in ICM
 * @param mptEntrySize bytes of an MPT entry
 * @param ackDelay local ACK delay, unused
 * @param maxMtu largest MTU: 1 to 5 for 256 to 4096 bytes
 * @param maxPortWidth largest port width
 * @param maxVl maximum number of virtual lanes
 * @param ports number of ports
 * @param minPageSizeLog log2 of the smallest page in bytes
 * @param maxSg maximum number of scatter/gather entries of a WQE
 * @param maxDescSize bytes of the largest WQE
 * @param maxSgRq maximum number of scatter/gather entries of a receive WQE
 * @param maxDescSizeRq bytes of the largest receive WQE
 * @param maxIcmSize largest ICM in bytes
 * @param extensions announced capabilities beyond the document
 */
public record DeviceLimits(
    int reservedQpsLog,
    int reservedCqsLog,
    int reservedEqsLog,
    int reservedMttsLog,
    int reservedPdsLog,
    int reservedLkeysLog,
    int maxQpSizeLog,
    int maxCqSizeLog,
    int maxQpsLog,
    int maxCqsLog,
    int maxEqsLog,
    int maxMptsLog,
    int maxPdsLog,
    int maxGidsLog,
    int maxPkeysLog,
    int mttEntrySize,
    int qpcEntrySize,
    int cqcEntrySize,
    int eqcEntrySize,
    int mptEntrySize,
    int ackDelay,
    int maxMtu,
    int maxPortWidth,
    int maxVl,
    int ports,
    int minPageSizeLog,
    int maxSg,
    int maxDescSize,
    int maxSgRq,
    int maxDescSizeRq,
    long maxIcmSize,
    Set<DeviceExtension> extensions) {
  /** 00h[31:24]: log2 of the reserved QPs. */
  public static final MailboxField RESERVED_QPS = MailboxField.bits("reserved_qp", 0x00, 31, 24);

  /** 00h[23:16]: log2 of the reserved CQs. */
  public static final MailboxField RESERVED_CQS = MailboxField.bits("reserved_cq", 0x00, 23, 16);

  /** 00h[15:8]: log2 of the reserved EQs. */
  public static final MailboxField RESERVED_EQS = MailboxField.bits("reserved_eq", 0x00, 15, 8);

  /** 00h[7:0]: log2 of the reserved MTT entries. */
  public static final MailboxField RESERVED_MTTS = MailboxField.bits("reserved_mtt", 0x00, 7, 0);

  /** 04h[23:16]: log2 of the reserved PDs. */
  public static final MailboxField RESERVED_PDS = MailboxField.bits("reserved_pd", 0x04, 23, 16);

  /** 04h[7:0]: log2 of the reserved keys. */
  public static final MailboxField RESERVED_LKEYS = MailboxField.bits("reserved_lkey", 0x04, 7, 0);

  /** 08h[31:16]: log2 of the maximum number of WQEs in a queue. */
  public static final MailboxField MAX_QP_SIZE = MailboxField.bits("max_qp_sz", 0x08, 31, 16);

  /** 08h[15:0]: log2 of the maximum number of CQEs in a CQ. */
  public static final MailboxField MAX_CQ_SIZE = MailboxField.bits("max_cq_sz", 0x08, 15, 0);

  /** 0Ch[31:24]: log2 of the maximum number of QPs. */
  public static final MailboxField MAX_QPS = MailboxField.bits("max_qps", 0x0C, 31, 24);

  /** 0Ch[23:16]: log2 of the maximum number of CQs. */
  public static final MailboxField MAX_CQS = MailboxField.bits("max_cqs", 0x0C, 23, 16);

  /** 0Ch[15:8]: log2 of the maximum number of EQs. */
  public static final MailboxField MAX_EQS = MailboxField.bits("max_eqs", 0x0C, 15, 8);

  /** 0Ch[7:0]: log2 of the maximum number of MPT entries. */
  public static final MailboxField MAX_MPTS = MailboxField.bits("max_mpts", 0x0C, 7, 0);

  /** 10h[31:24]: log2 of the maximum number of PDs. */
  public static final MailboxField MAX_PDS = MailboxField.bits("max_pds", 0x10, 31, 24);

  /** 10h[15:8]: log2 of the GIDs. */
  public static final MailboxField MAX_GIDS = MailboxField.bits("max_gids", 0x10, 15, 8);

  /** 10h[7:0]: log2 of the P_Keys. */
  public static final MailboxField MAX_PKEYS = MailboxField.bits("max_pkeys", 0x10, 7, 0);

  /** 14h[23:16]: bytes of an MTT entry. */
  public static final MailboxField MTT_ENTRY_SIZE = MailboxField.bits("max_mtt_seg", 0x14, 23, 16);

  /** 18h[31:16]: bytes of a QPC in ICM. */
  public static final MailboxField QPC_ENTRY_SIZE = MailboxField.bits("qpc_entry_sz", 0x18, 31, 16);

  /** 18h[15:0]: bytes of a CQC in ICM; the RTL says 128 and uses 64. */
  public static final MailboxField CQC_ENTRY_SIZE = MailboxField.bits("cqc_entry_sz", 0x18, 15, 0);

  /** 1Ch[31:16]: bytes of an EQC in ICM. */
  public static final MailboxField EQC_ENTRY_SIZE = MailboxField.bits("eqc_entry_sz", 0x1C, 31, 16);

  /** 1Ch[15:0]: bytes of an MPT entry. */
  public static final MailboxField MPT_ENTRY_SIZE = MailboxField.bits("mpt_entry_sz", 0x1C, 15, 0);

  /** 20h[27:24]: local ACK delay, unused. */
  public static final MailboxField ACK_DELAY = MailboxField.bits("ack_delay", 0x20, 27, 24);

  /** 20h[23:20]: largest MTU: 1 to 5 for 256 to 4096 bytes. */
  public static final MailboxField MAX_MTU = MailboxField.bits("max_mtu", 0x20, 23, 20);

  /** 20h[19:16]: largest port width. */
  public static final MailboxField MAX_PORT_WIDTH =
      MailboxField.bits("max_port_width", 0x20, 19, 16);

  /** 20h[7:4]: maximum number of virtual lanes. */
  public static final MailboxField MAX_VL = MailboxField.bits("max_vl", 0x20, 7, 4);

  /** 20h[3:0]: number of ports. */
  public static final MailboxField PORTS = MailboxField.bits("num_ports", 0x20, 3, 0);

  /** 24h[23:16]: log2 of the smallest page in bytes. */
  public static final MailboxField MIN_PAGE_SIZE = MailboxField.bits("min_page_sz", 0x24, 23, 16);

  /** 28h[23:16]: maximum number of scatter/gather entries of a WQE. */
  public static final MailboxField MAX_SG = MailboxField.bits("max_sg", 0x28, 23, 16);

  /** 28h[15:0]: bytes of the largest WQE. */
  public static final MailboxField MAX_DESC_SIZE = MailboxField.bits("max_desc_sz", 0x28, 15, 0);

  /** 2Ch[23:16]: maximum number of scatter/gather entries of a receive WQE. */
  public static final MailboxField MAX_SG_RQ = MailboxField.bits("max_sg_rq", 0x2C, 23, 16);

  /** 2Ch[15:0]: bytes of the largest receive WQE. */
  public static final MailboxField MAX_DESC_SIZE_RQ =
      MailboxField.bits("max_desc_sz_rq", 0x2C, 15, 0);

  /** 30h, 64 bits: largest ICM in bytes. */
  public static final MailboxField MAX_ICM_SIZE = MailboxField.qword("max_icm_sz", 0x30);

  /** The whole body, 64 bytes, as the document defines it: without {@link DeviceExtension}. */
  public static final MailboxLayout LAYOUT =
      MailboxLayout.of(
          "DEV_LIM",
          "table 3-2-3",
          64,
          RESERVED_QPS,
          RESERVED_CQS,
          RESERVED_EQS,
          RESERVED_MTTS,
          RESERVED_PDS,
          RESERVED_LKEYS,
          MAX_QP_SIZE,
          MAX_CQ_SIZE,
          MAX_QPS,
          MAX_CQS,
          MAX_EQS,
          MAX_MPTS,
          MAX_PDS,
          MAX_GIDS,
          MAX_PKEYS,
          MTT_ENTRY_SIZE,
          QPC_ENTRY_SIZE,
          CQC_ENTRY_SIZE,
          EQC_ENTRY_SIZE,
          MPT_ENTRY_SIZE,
          ACK_DELAY,
          MAX_MTU,
          MAX_PORT_WIDTH,
          MAX_VL,
          PORTS,
          MIN_PAGE_SIZE,
          MAX_SG,
          MAX_DESC_SIZE,
          MAX_SG_RQ,
          MAX_DESC_SIZE_RQ,
          MAX_ICM_SIZE);

  /** Limits. */
  public DeviceLimits {
    extensions = Set.copyOf(extensions);
  }

  /** Writes the body, reserved bits as zero. */
  public void encode(MemorySegment mailbox) {
    LAYOUT.clear(mailbox);
    RESERVED_QPS.set(mailbox, reservedQpsLog);
    RESERVED_CQS.set(mailbox, reservedCqsLog);
    RESERVED_EQS.set(mailbox, reservedEqsLog);
    RESERVED_MTTS.set(mailbox, reservedMttsLog);
    RESERVED_PDS.set(mailbox, reservedPdsLog);
    RESERVED_LKEYS.set(mailbox, reservedLkeysLog);
    MAX_QP_SIZE.set(mailbox, maxQpSizeLog);
    MAX_CQ_SIZE.set(mailbox, maxCqSizeLog);
    MAX_QPS.set(mailbox, maxQpsLog);
    MAX_CQS.set(mailbox, maxCqsLog);
    MAX_EQS.set(mailbox, maxEqsLog);
    MAX_MPTS.set(mailbox, maxMptsLog);
    MAX_PDS.set(mailbox, maxPdsLog);
    MAX_GIDS.set(mailbox, maxGidsLog);
    MAX_PKEYS.set(mailbox, maxPkeysLog);
    MTT_ENTRY_SIZE.set(mailbox, mttEntrySize);
    QPC_ENTRY_SIZE.set(mailbox, qpcEntrySize);
    CQC_ENTRY_SIZE.set(mailbox, cqcEntrySize);
    EQC_ENTRY_SIZE.set(mailbox, eqcEntrySize);
    MPT_ENTRY_SIZE.set(mailbox, mptEntrySize);
    ACK_DELAY.set(mailbox, ackDelay);
    MAX_MTU.set(mailbox, maxMtu);
    MAX_PORT_WIDTH.set(mailbox, maxPortWidth);
    MAX_VL.set(mailbox, maxVl);
    PORTS.set(mailbox, ports);
    MIN_PAGE_SIZE.set(mailbox, minPageSizeLog);
    MAX_SG.set(mailbox, maxSg);
    MAX_DESC_SIZE.set(mailbox, maxDescSize);
    MAX_SG_RQ.set(mailbox, maxSgRq);
    MAX_DESC_SIZE_RQ.set(mailbox, maxDescSizeRq);
    MAX_ICM_SIZE.setLong(mailbox, maxIcmSize);
    if (!extensions.isEmpty()) {
      DeviceExtension.announce(mailbox, extensions);
    }
  }

  /** Reads a body. */
  public static DeviceLimits decode(MemorySegment mailbox) {
    return new DeviceLimits(
        RESERVED_QPS.get(mailbox),
        RESERVED_CQS.get(mailbox),
        RESERVED_EQS.get(mailbox),
        RESERVED_MTTS.get(mailbox),
        RESERVED_PDS.get(mailbox),
        RESERVED_LKEYS.get(mailbox),
        MAX_QP_SIZE.get(mailbox),
        MAX_CQ_SIZE.get(mailbox),
        MAX_QPS.get(mailbox),
        MAX_CQS.get(mailbox),
        MAX_EQS.get(mailbox),
        MAX_MPTS.get(mailbox),
        MAX_PDS.get(mailbox),
        MAX_GIDS.get(mailbox),
        MAX_PKEYS.get(mailbox),
        MTT_ENTRY_SIZE.get(mailbox),
        QPC_ENTRY_SIZE.get(mailbox),
        CQC_ENTRY_SIZE.get(mailbox),
        EQC_ENTRY_SIZE.get(mailbox),
        MPT_ENTRY_SIZE.get(mailbox),
        ACK_DELAY.get(mailbox),
        MAX_MTU.get(mailbox),
        MAX_PORT_WIDTH.get(mailbox),
        MAX_VL.get(mailbox),
        PORTS.get(mailbox),
        MIN_PAGE_SIZE.get(mailbox),
        MAX_SG.get(mailbox),
        MAX_DESC_SIZE.get(mailbox),
        MAX_SG_RQ.get(mailbox),
        MAX_DESC_SIZE_RQ.get(mailbox),
        MAX_ICM_SIZE.getLong(mailbox),
        DeviceExtension.announced(mailbox));
  }

  /** QPs that software must not use, from number 0. */
  public int reservedQps() {
    return power(reservedQpsLog);
  }

  /** CQs that software must not use, from number 0. */
  public int reservedCqs() {
    return power(reservedCqsLog);
  }

  /** EQs that software must not use, from number 0. */
  public int reservedEqs() {
    return power(reservedEqsLog);
  }

  /** MTT entries that software must not use, from index 0. */
  public int reservedMtts() {
    return power(reservedMttsLog);
  }

  /** PDs that software must not use, from number 0. */
  public int reservedPds() {
    return power(reservedPdsLog);
  }

  /** Keys that software must not use, from index 0. */
  public int reservedLkeys() {
    return power(reservedLkeysLog);
  }

  /** Most WQEs in a queue. */
  public int maxQpSize() {
    return power(maxQpSizeLog);
  }

  /** Most CQEs in a CQ. */
  public int maxCqSize() {
    return power(maxCqSizeLog);
  }

  /** Most QPs. */
  public int maxQps() {
    return power(maxQpsLog);
  }

  /** Most CQs. */
  public int maxCqs() {
    return power(maxCqsLog);
  }

  /** Most EQs. */
  public int maxEqs() {
    return power(maxEqsLog);
  }

  /** Most MPT entries. */
  public int maxMpts() {
    return power(maxMptsLog);
  }

  /** Most PDs. */
  public int maxPds() {
    return power(maxPdsLog);
  }

  /** Number of GIDs. */
  public int maxGids() {
    return power(maxGidsLog);
  }

  /** Number of P_Keys. */
  public int maxPkeys() {
    return power(maxPkeysLog);
  }

  /** Smallest page in bytes. */
  public int minPageSize() {
    return power(minPageSizeLog);
  }

  private static int power(int log) {
    return log < Integer.SIZE - 1 ? 1 << log : Integer.MAX_VALUE;
  }
}

package org.hghca.abi;

import java.lang.foreign.MemorySegment;

/**
 * The queue pair context: inbox of MODIFY_QP and outbox of QUERY_QP (interface document, tables
 * 3-2-40 to 3-2-42 and A1-4).
 *
 * <pre>
 *          +0              +1             +2             +3
 *     +---------------------------------------------------------------+
 * 00h |                        opt_param_mask                         |
 * 04h |    EXTENSION: alternate sl, tclass and flowlabel, as 28h      |
 * 08h |state|         | service_type |    EXTENSION: pm_state 12:11   |
 * 0Ch | mtu | msg_max | rq_entry_sz  | sq_entry_sz  | sched_queue     |
 * 10h |                           usr_page                            |
 * 14h |                           local_qpn                           |
 * 18h |                          remote_qpn                           |
 * 1Ch |       | port  |            reserved         |  | pkey_index   |
 * 20h |   rnr_retry   |grh| my_lmc   |             reserved           |
 * 24h |  ackto  |     | mgid_index   | static_rate  |  hop_limit      |
 * 28h |  sl  |     tclass      |              flowlabel               |
 * 2Ch |                     rgid, 16 bytes to 3Bh                     |
 * 3Ch |          dmac[15:0]          |           smac[15:0]           |
 * 40h |                          smac[47:16]                          |
 * 44h |                          dmac[47:16]                          |
 * 48h |                              sip                              |
 * 4Ch |                              dip                              |
 * 50h |    EXTENSION: alternate dmac[47:16]                           |
 * 54h |    EXTENSION: alternate dmac[15:0], mgid_index, hop_limit     |
 * 58h |    EXTENSION: max_dest_rd_atomic 23:21, read 15, write 14, atomic 13
 * 5Ch |                              pd                               |
 * 60h |                           wqe_base                            |
 * 64h |                           wqe_lkey                            |
 * 68h |    EXTENSION: max_rd_atomic 23:21, retry_cnt 18:16            |
 * 6Ch |                         next_send_psn                         |
 * 70h |                            cqn_snd                            |
 * 74h |                        snd_wqe_base_l                         |
 * 78h |                          snd_wqe_len                          |
 * 7Ch |                        last_acked_psn                         |
 * 80h |                              ssn                              |
 * 84h | min_rnr_timer |                next_recv_psn                  |
 * 88h |                         ra_buff_indx                          |
 * 8Ch |                            cqn_rcv                            |
 * 90h |                        rcv_wqe_base_l                         |
 * 94h |                          rcv_wqe_len                          |
 * 98h |                             qkey                              |
 * 9Ch |                             rmsn                              |
 * A0h |    EXTENSION: port_by_numbers 31, alternate ackto 29:25, srq 24, srqn 23:0
 * A4h |    EXTENSION: snd_ring_offset                                 |
 * A8h |    EXTENSION: rcv_ring_offset                                 |
 * ACh |    EXTENSION: alternate rgid, 16 bytes to BBh                 |
 * BCh |       rq_wqe_counter         |        sq_wqe_counter          |
 *     +---------------------------------------------------------------+
 * </pre>
 *
 * <p>MODIFY_QP replaces the whole context on the card, so a driver keeps one of these per QP,
 * modifies the fields and sends the whole context. A field is read and written through its
 * constant:
 *
 * <pre>{@code
 * context.set(STATE, QpcState.RTS).set(NEXT_SEND_PSN, psn);
 * context.encode(mailbox);
 * }</pre>
 *
 * <p>The constants also work on a context image at another place, such as ICM: {@code
 * STATE.get(icm, base)}.
 *
 * <p>Fields marked EXTENSION lie in dwords that the document leaves blank. The software HCA honours
 * them; the RTL ignores them.
 *
 * <p>An IPv6 path needs no field beyond the document's: mgid_index selects an IPv6 address of the
 * {@link GidTable}, EXTENSION, rgid is the destination, and sip and dip are 0. Flow label, traffic
 * class and hop limit of a path are the document's fields at 24h and 28h.
 *
 * <p>Mutable; not safe for use by several threads at once.
 */
public final class QueuePairContext {
  /** Bytes from one context to the next in ICM. */
  public static final int ENTRY_SIZE = 256;

  /** 00h: attributes that the command changes, {@link OptParamMask}. */
  public static final MailboxField OPT_PARAM_MASK = MailboxField.dword("opt_param_mask", 0x00);

  /** 08h[31:28]: target state, {@link QpcState}. */
  public static final MailboxField STATE = MailboxField.bits("state", 0x08, 31, 28);

  /** 08h[23:16]: transport, {@link QpcServiceType}. */
  public static final MailboxField SERVICE_TYPE = MailboxField.bits("service_type", 0x08, 23, 16);

  /** 0Ch[31:29]: path MTU: 1 to 5 for 256 to 4096 bytes. */
  public static final MailboxField MTU = MailboxField.bits("mtu", 0x0C, 31, 29);

  /** 0Ch[28:24]: log2 of the longest message in bytes. */
  public static final MailboxField MSG_MAX = MailboxField.bits("msg_max", 0x0C, 28, 24);

  /** 0Ch[23:16]: log2 of the bytes of a receive WQE's slot. */
  public static final MailboxField RQ_ENTRY_SIZE =
      MailboxField.bits("rq_entry_sz_log", 0x0C, 23, 16);

  /** 0Ch[15:8]: log2 of the bytes of a send WQE's slot. */
  public static final MailboxField SQ_ENTRY_SIZE =
      MailboxField.bits("sq_entry_sz_log", 0x0C, 15, 8);

  /** 0Ch[7:0]: unused. */
  public static final MailboxField RLKEY_ARBEL_SCHED_QUEUE =
      MailboxField.bits("rlkey_arbel_sched_queue", 0x0C, 7, 0);

  /** 10h: UAR page, unused. */
  public static final MailboxField USR_PAGE = MailboxField.dword("usr_page", 0x10);

  /** 14h: own QPN. */
  public static final MailboxField LOCAL_QPN = MailboxField.dword("local_qpn", 0x14);

  /** 18h: the peer's QPN, for connected transports. */
  public static final MailboxField REMOTE_QPN = MailboxField.dword("remote_qpn", 0x18);

  /** 1Ch[26:24]: port number. */
  public static final MailboxField PORT = MailboxField.bits("port", 0x1C, 26, 24);

  /** 1Ch[6:0]: index of the P_Key. */
  public static final MailboxField PKEY_INDEX = MailboxField.bits("pkey_index", 0x1C, 6, 0);

  /** 20h[31:24]: retries after RNR NAK, 3 bits used, 7 is infinite. */
  public static final MailboxField RNR_RETRY = MailboxField.bits("rnr_retry", 0x20, 31, 24);

  /** 20h[23]: 1 if packets carry a GRH. */
  public static final MailboxField HAS_GRH = MailboxField.bits("has_grh", 0x20, 23, 23);

  /** 20h[22:16]: local mask control, unused. */
  public static final MailboxField MY_LMC = MailboxField.bits("my_lmc", 0x20, 22, 16);

  /** 24h[31:27]: ACK time-out as libibverbs codes it: 4.096 us times 2^value, 0 is infinite. */
  public static final MailboxField ACK_TIMEOUT = MailboxField.bits("ackto", 0x24, 31, 27);

  /** 24h[23:16]: index of the source GID; EXTENSION: in the device's {@link GidTable}. */
  public static final MailboxField MGID_INDEX = MailboxField.bits("mgid_index", 0x24, 23, 16);

  /** 24h[15:8]: static rate. */
  public static final MailboxField STATIC_RATE = MailboxField.bits("static_rate", 0x24, 15, 8);

  /** 24h[7:0]: hop limit. */
  public static final MailboxField HOP_LIMIT = MailboxField.bits("hop_limit", 0x24, 7, 0);

  /** 28h[31:28]: service level. */
  public static final MailboxField SL = MailboxField.bits("sl", 0x28, 31, 28);

  /** 28h[27:20]: traffic class. */
  public static final MailboxField TRAFFIC_CLASS = MailboxField.bits("tclass", 0x28, 27, 20);

  /** 28h[19:0]: flow label. */
  public static final MailboxField FLOW_LABEL = MailboxField.bits("flowlabel", 0x28, 19, 0);

  /** 2Ch, 64 bits: first 8 bytes of the destination GID. */
  public static final MailboxField REMOTE_GID_HIGH = MailboxField.qword("rgid[127:64]", 0x2C);

  /** 34h, 64 bits: last 8 bytes of the destination GID. */
  public static final MailboxField REMOTE_GID_LOW = MailboxField.qword("rgid[63:0]", 0x34);

  /** 3Ch[31:16]: last 2 bytes of the destination MAC address, or the destination LID. */
  public static final MailboxField DMAC_LOW = MailboxField.bits("dmac[15:0]", 0x3C, 31, 16);

  /** 3Ch[15:0]: last 2 bytes of the source MAC address, or the source LID. */
  public static final MailboxField SMAC_LOW = MailboxField.bits("smac[15:0]", 0x3C, 15, 0);

  /** 40h: first 4 bytes of the source MAC address. */
  public static final MailboxField SMAC_HIGH = MailboxField.dword("smac[47:16]", 0x40);

  /** 44h: first 4 bytes of the destination MAC address. */
  public static final MailboxField DMAC_HIGH = MailboxField.dword("dmac[47:16]", 0x44);

  /** 48h: source IPv4 address, a.b.c.d as aabbccddh. */
  public static final MailboxField SOURCE_IP = MailboxField.dword("sip", 0x48);

  /** 4Ch: destination IPv4 address. */
  public static final MailboxField DESTINATION_IP = MailboxField.dword("dip", 0x4C);

  /** 58h[23:21]: EXTENSION, log2 of the READs and atomics accepted at a time. */
  public static final MailboxField MAX_DEST_RD_ATOMIC =
      MailboxField.bits("max_dest_rd_atomic", 0x58, 23, 21);

  /** 58h[15]: EXTENSION, 1 if the peer may READ. */
  public static final MailboxField REMOTE_READ_ENABLE =
      MailboxField.bits("remote_read_enable", 0x58, 15, 15);

  /** 58h[14]: EXTENSION, 1 if the peer may WRITE. */
  public static final MailboxField REMOTE_WRITE_ENABLE =
      MailboxField.bits("remote_write_enable", 0x58, 14, 14);

  /** 58h[13]: EXTENSION, 1 if the peer may use atomics. */
  public static final MailboxField REMOTE_ATOMIC_ENABLE =
      MailboxField.bits("remote_atomic_enable", 0x58, 13, 13);

  /** 5Ch: protection domain. */
  public static final MailboxField PD = MailboxField.dword("pd", 0x5C);

  /** 60h: unused. */
  public static final MailboxField WQE_BASE = MailboxField.dword("wqe_base", 0x60);

  /** 64h: unused. */
  public static final MailboxField WQE_LKEY = MailboxField.dword("wqe_lkey", 0x64);

  /** 68h[23:21]: EXTENSION, log2 of the READs and atomics outstanding at a time. */
  public static final MailboxField MAX_RD_ATOMIC = MailboxField.bits("max_rd_atomic", 0x68, 23, 21);

  /** 68h[18:16]: EXTENSION, retries after an ACK time-out. */
  public static final MailboxField RETRY_COUNT = MailboxField.bits("retry_cnt", 0x68, 18, 16);

  /** 6Ch: PSN of the next packet sent, 24 bits used. */
  public static final MailboxField NEXT_SEND_PSN = MailboxField.dword("next_send_psn", 0x6C);

  /** 70h: CQ of the send queue. */
  public static final MailboxField SEND_CQN = MailboxField.dword("cqn_snd", 0x70);

  /** 74h: key of the send queue's memory. */
  public static final MailboxField SEND_WQE_LKEY = MailboxField.dword("snd_wqe_base_l", 0x74);

  /** 78h: bytes of the send queue. */
  public static final MailboxField SEND_WQE_LENGTH = MailboxField.dword("snd_wqe_len", 0x78);

  /** 7Ch: oldest PSN not acknowledged; at first equal to next_send_psn. */
  public static final MailboxField LAST_ACKED_PSN = MailboxField.dword("last_acked_psn", 0x7C);

  /** 80h: unused. */
  public static final MailboxField SSN = MailboxField.dword("ssn", 0x80);

  /** 84h[31:24]: RNR NAK timer code that the responder sends, 5 bits used. */
  public static final MailboxField MIN_RNR_TIMER = MailboxField.bits("min_rnr_timer", 0x84, 31, 24);

  /** 84h[23:0]: PSN expected next. */
  public static final MailboxField NEXT_RECEIVE_PSN =
      MailboxField.bits("next_recv_psn", 0x84, 23, 0);

  /** 88h: unused. */
  public static final MailboxField RA_BUFF_INDEX = MailboxField.dword("ra_buff_indx", 0x88);

  /** 8Ch: CQ of the receive queue. */
  public static final MailboxField RECEIVE_CQN = MailboxField.dword("cqn_rcv", 0x8C);

  /** 90h: key of the receive queue's memory. */
  public static final MailboxField RECEIVE_WQE_LKEY = MailboxField.dword("rcv_wqe_base_l", 0x90);

  /** 94h: bytes of the receive queue. */
  public static final MailboxField RECEIVE_WQE_LENGTH = MailboxField.dword("rcv_wqe_len", 0x94);

  /** 98h: Q_Key of datagram transports. */
  public static final MailboxField QKEY = MailboxField.dword("qkey", 0x98);

  /** 9Ch: unused. */
  public static final MailboxField RMSN = MailboxField.dword("rmsn", 0x9C);

  /**
   * A0h[31]: EXTENSION, {@link DeviceExtension#FLOW_LABELS}: with a flow label of 0, the UDP source
   * port is the exclusive or of both queue pair numbers, each with its highest byte folded into its
   * lowest, or'd with C000h. Without it, the port is that of a flow label, for a label of 0 that of
   * the hash of both numbers.
   */
  public static final MailboxField PORT_BY_NUMBERS =
      MailboxField.bits("port_by_numbers", 0xA0, 31, 31);

  /** A0h[24]: EXTENSION, 1 if receives come from the shared receive queue {@link #SRQN}. */
  public static final MailboxField HAS_SRQ = MailboxField.bits("srq", 0xA0, 24, 24);

  /** A0h[23:0]: EXTENSION, number of the shared receive queue. */
  public static final MailboxField SRQN = MailboxField.bits("srqn", 0xA0, 23, 0);

  /** A4h: EXTENSION, byte offset of the send queue in its region. */
  public static final MailboxField SEND_RING_OFFSET = MailboxField.dword("snd_ring_offset", 0xA4);

  /** A8h: EXTENSION, byte offset of the receive queue in its region. */
  public static final MailboxField RECEIVE_RING_OFFSET =
      MailboxField.dword("rcv_ring_offset", 0xA8);

  /** 08h[12:11]: EXTENSION, path migration, {@link PathMigration}. */
  public static final MailboxField MIGRATION = MailboxField.bits("pm_state", 0x08, 12, 11);

  /** 04h[31:28]: EXTENSION, service level of the alternate path. */
  public static final MailboxField ALTERNATE_SL = MailboxField.bits("alt_sl", 0x04, 31, 28);

  /** 04h[27:20]: EXTENSION, traffic class of the alternate path. */
  public static final MailboxField ALTERNATE_TRAFFIC_CLASS =
      MailboxField.bits("alt_tclass", 0x04, 27, 20);

  /** 04h[19:0]: EXTENSION, flow label of the alternate path. */
  public static final MailboxField ALTERNATE_FLOW_LABEL =
      MailboxField.bits("alt_flowlabel", 0x04, 19, 0);

  /** 50h: EXTENSION, first 4 bytes of the destination MAC address of the alternate path. */
  public static final MailboxField ALTERNATE_DMAC_HIGH =
      MailboxField.dword("alt_dmac[47:16]", 0x50);

  /** 54h[31:16]: EXTENSION, last 2 bytes of the destination MAC address of the alternate path. */
  public static final MailboxField ALTERNATE_DMAC_LOW =
      MailboxField.bits("alt_dmac[15:0]", 0x54, 31, 16);

  /** 54h[15:8]: EXTENSION, index of the source GID of the alternate path. */
  public static final MailboxField ALTERNATE_MGID_INDEX =
      MailboxField.bits("alt_mgid_index", 0x54, 15, 8);

  /** 54h[7:0]: EXTENSION, hop limit of the alternate path. */
  public static final MailboxField ALTERNATE_HOP_LIMIT =
      MailboxField.bits("alt_hop_limit", 0x54, 7, 0);

  /** A0h[29:25]: EXTENSION, ACK time-out on the alternate path. */
  public static final MailboxField ALTERNATE_ACK_TIMEOUT =
      MailboxField.bits("alt_ackto", 0xA0, 29, 25);

  /** ACh, 64 bits: EXTENSION, first 8 bytes of the alternate path's destination GID. */
  public static final MailboxField ALTERNATE_GID_HIGH =
      MailboxField.qword("alt_rgid[127:64]", 0xAC);

  /** B4h, 64 bits: EXTENSION, last 8 bytes; both halves 0 where there is no alternate path. */
  public static final MailboxField ALTERNATE_GID_LOW = MailboxField.qword("alt_rgid[63:0]", 0xB4);

  /** BCh[31:16]: unused. */
  public static final MailboxField RQ_WQE_COUNTER =
      MailboxField.bits("rq_wqe_counter", 0xBC, 31, 16);

  /** BCh[15:0]: unused. */
  public static final MailboxField SQ_WQE_COUNTER =
      MailboxField.bits("sq_wqe_counter", 0xBC, 15, 0);

  /** The whole body, 192 bytes. */
  public static final MailboxLayout LAYOUT =
      MailboxLayout.of(
          "QPC",
          "table 3-2-40",
          192,
          OPT_PARAM_MASK,
          STATE,
          SERVICE_TYPE,
          MTU,
          MSG_MAX,
          RQ_ENTRY_SIZE,
          SQ_ENTRY_SIZE,
          RLKEY_ARBEL_SCHED_QUEUE,
          USR_PAGE,
          LOCAL_QPN,
          REMOTE_QPN,
          PORT,
          PKEY_INDEX,
          RNR_RETRY,
          HAS_GRH,
          MY_LMC,
          ACK_TIMEOUT,
          MGID_INDEX,
          STATIC_RATE,
          HOP_LIMIT,
          SL,
          TRAFFIC_CLASS,
          FLOW_LABEL,
          REMOTE_GID_HIGH,
          REMOTE_GID_LOW,
          DMAC_LOW,
          SMAC_LOW,
          SMAC_HIGH,
          DMAC_HIGH,
          SOURCE_IP,
          DESTINATION_IP,
          MAX_DEST_RD_ATOMIC,
          REMOTE_READ_ENABLE,
          REMOTE_WRITE_ENABLE,
          REMOTE_ATOMIC_ENABLE,
          PD,
          WQE_BASE,
          WQE_LKEY,
          MAX_RD_ATOMIC,
          RETRY_COUNT,
          NEXT_SEND_PSN,
          SEND_CQN,
          SEND_WQE_LKEY,
          SEND_WQE_LENGTH,
          LAST_ACKED_PSN,
          SSN,
          MIN_RNR_TIMER,
          NEXT_RECEIVE_PSN,
          RA_BUFF_INDEX,
          RECEIVE_CQN,
          RECEIVE_WQE_LKEY,
          RECEIVE_WQE_LENGTH,
          QKEY,
          RMSN,
          PORT_BY_NUMBERS,
          HAS_SRQ,
          SRQN,
          SEND_RING_OFFSET,
          RECEIVE_RING_OFFSET,
          MIGRATION,
          ALTERNATE_SL,
          ALTERNATE_TRAFFIC_CLASS,
          ALTERNATE_FLOW_LABEL,
          ALTERNATE_DMAC_HIGH,
          ALTERNATE_DMAC_LOW,
          ALTERNATE_MGID_INDEX,
          ALTERNATE_HOP_LIMIT,
          ALTERNATE_ACK_TIMEOUT,
          ALTERNATE_GID_HIGH,
          ALTERNATE_GID_LOW,
          RQ_WQE_COUNTER,
          SQ_WQE_COUNTER);

  /** Contexts are read often, and whole: by dwords rather than by fields. */
  private static final int[] FIELD_BITS = LAYOUT.fieldBits();

  private static final int MAC_LOW_BITS = 16;
  private static final long MAC_LOW_MASK = 0xFFFF;

  private final MemorySegment image = MemorySegment.ofArray(new byte[LAYOUT.size()]);

  /** A context of zeros: state RST, transport RC. */
  public QueuePairContext() {}

  /** A context with the same values. */
  public QueuePairContext copy() {
    QueuePairContext context = new QueuePairContext();
    context.image.copyFrom(image);
    return context;
  }

  /**
   * Reads a field of one dword.
   *
   * @throws IllegalStateException if the field lies in two dwords
   */
  public int get(MailboxField field) {
    return field.get(image);
  }

  /** Reads a field of any width; one of a dword is zero-extended. */
  public long getLong(MailboxField field) {
    return field.getLong(image);
  }

  /**
   * Writes a field of one dword.
   *
   * @return this
   * @throws IllegalArgumentException if the value has more bits than the field
   * @throws IllegalStateException if the field lies in two dwords
   */
  public QueuePairContext set(MailboxField field, int value) {
    field.set(image, value);
    return this;
  }

  /**
   * Writes a field of any width.
   *
   * @return this
   * @throws IllegalArgumentException if the value has more bits than the field
   */
  public QueuePairContext setLong(MailboxField field, long value) {
    field.setLong(image, value);
    return this;
  }

  /** The source MAC address, 12:34:56:78:9a:bc as 123456789abch. */
  public long sourceMac() {
    return mac(SMAC_HIGH, SMAC_LOW);
  }

  /**
   * Writes the source MAC address.
   *
   * @return this
   * @throws IllegalArgumentException if it has more than 48 bits
   */
  public QueuePairContext sourceMac(long mac) {
    return mac(SMAC_HIGH, SMAC_LOW, mac);
  }

  /** The destination MAC address, 12:34:56:78:9a:bc as 123456789abch. */
  public long destinationMac() {
    return mac(DMAC_HIGH, DMAC_LOW);
  }

  /**
   * Writes the destination MAC address.
   *
   * @return this
   * @throws IllegalArgumentException if it has more than 48 bits
   */
  public QueuePairContext destinationMac(long mac) {
    return mac(DMAC_HIGH, DMAC_LOW, mac);
  }

  /**
   * Writes the destination MAC address of the alternate path.
   *
   * @return this
   * @throws IllegalArgumentException if it has more than 48 bits
   */
  public QueuePairContext alternateDestinationMac(long mac) {
    return mac(ALTERNATE_DMAC_HIGH, ALTERNATE_DMAC_LOW, mac);
  }

  private long mac(MailboxField high, MailboxField low) {
    return high.getLong(image) << MAC_LOW_BITS | low.getLong(image);
  }

  private QueuePairContext mac(MailboxField high, MailboxField low, long mac) {
    high.setLong(image, mac >>> MAC_LOW_BITS);
    low.setLong(image, mac & MAC_LOW_MASK);
    return this;
  }

  /** Writes the body, reserved bits as zero. */
  public void encode(MemorySegment mailbox) {
    mailbox.asSlice(0, LAYOUT.size()).copyFrom(image);
  }

  /** Reads a body; its reserved bits are dropped. */
  public static QueuePairContext decode(MemorySegment mailbox) {
    return decode(mailbox, 0);
  }

  /** As {@link #decode(MemorySegment)}, of a body that begins at byte {@code base}. */
  public static QueuePairContext decode(MemorySegment mailbox, long base) {
    QueuePairContext context = new QueuePairContext();
    for (int i = 0; i < FIELD_BITS.length; i++) {
      long at = (long) i * Integer.BYTES;
      context.image.set(
          MailboxField.DWORD, at, mailbox.get(MailboxField.DWORD, base + at) & FIELD_BITS[i]);
    }
    return context;
  }

  /** Exchanges the primary and the alternate path, as {@link PathMigration#migrate}. */
  public void migrate(int sourceIp) {
    PathMigration.migrate(image, sourceIp);
  }

  /** Takes migration state and paths from another context, as {@link PathMigration#copy}. */
  public void copyPaths(QueuePairContext from) {
    PathMigration.copy(from.image, image);
  }

  /** The fields that are not zero. */
  @Override
  public String toString() {
    return "QPC " + LAYOUT.describe(image);
  }
}

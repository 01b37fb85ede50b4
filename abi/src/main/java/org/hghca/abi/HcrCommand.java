package org.hghca.abi;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The commands of the HCR (interface document, table 3-2-1), with the document's op_modifier,
 * in_param and out_param.
 *
 * <p>Sizes are those of the document's layouts. The RTL fetches 8 bytes for RESIZE_CQ, ignores the
 * op_modifier of most commands, and knows neither NOP nor CONF_SPECIAL_QP.
 */
public enum HcrCommand {
  /** 003: limits of the device, {@link DeviceLimits}. */
  QUERY_DEV_LIM(0x003, "CMD_QUERY_DEV_LIM", Group.DEVICE, 0, 64, 0),
  /** 006: board id, {@link AdapterInfo}. */
  QUERY_ADAPTER(0x006, "CMD_QUERY_ADAPTER", Group.DEVICE, 0, 32, 0),
  /** 007: bases and sizes of the tables in ICM, {@link InitHca}. */
  INIT_HCA(0x007, "CMD_INIT_HCA", Group.DEVICE, 64, 0, 0),
  /** 008: forget the tables in ICM. */
  CLOSE_HCA(0x008, "CMD_CLOSE_HCA", Group.DEVICE, 0, 0, 0),
  /** ffa: pages behind ICM, {@link MapIcm}; in_modifier counts the entries. */
  MAP_ICM(
      0xFFA, "CMD_MAP_ICM", Group.ICM, HcrCommand.VARIABLE, 0, MapIcm.CONTEXTS, MapIcm.TRANSLATION),
  /** ff9: in_param is the virtual address, in_modifier the number of pages. */
  UNMAP_ICM(0xFF9, "CMD_UNMAP_ICM", Group.ICM, 0, 0, MapIcm.CONTEXTS, MapIcm.TRANSLATION),
  /** 00d: an {@link Mpt} entry; in_modifier is its index. */
  SW2HW_MPT(0x00D, "CMD_SW2HW_MPT", Group.TPT, 64, 0, 0),
  /** 00f: invalidate the MPT entry in_modifier. */
  HW2SW_MPT(0x00F, "CMD_HW2SW_MPT", Group.TPT, 0, 0, 0),
  /** 011: page addresses, {@link WriteMtt}; in_modifier counts the entries. */
  WRITE_MTT(0x011, "CMD_WRITE_MTT", Group.TPT, HcrCommand.VARIABLE, 0, 0),
  /** 012: in_param is the event mask, in_modifier as in {@link MapEq}. */
  MAP_EQ(0x012, "CMD_MAP_EQ", Group.EQ, 0, 0, 0),
  /** 013: an {@link EventQueueContext}; in_modifier is the EQN. */
  SW2HW_EQ(0x013, "CMD_SW2HW_EQ", Group.EQ, 64, 0, 0),
  /** 014: invalidate the EQ in_modifier. */
  HW2SW_EQ(0x014, "CMD_HW2SW_EQ", Group.EQ, 0, 0, 0),
  /** 016: a {@link CompletionQueueContext}; in_modifier is the CQN. */
  SW2HW_CQ(0x016, "CMD_SW2HW_CQ", Group.CQ, 64, 0, 0),
  /** 017: invalidate the CQ in_modifier. */
  HW2SW_CQ(0x017, "CMD_HW2SW_CQ", Group.CQ, 0, 0, 0),
  /** 02c: other memory for a CQ, {@link ResizeCq}; in_modifier is the CQN. */
  RESIZE_CQ(0x02C, "CMD_RESIZE_CQ", Group.CQ, 32, 0, 0),
  /** 019: MODIFY_QP from RST to INIT, {@link QueuePairContext}; in_modifier is the QPN. */
  RST2INIT(0x019, "CMD_RST2INIT_QPEE", Group.QP, 192, 0, 0),
  /** 01a: MODIFY_QP from INIT to RTR. */
  INIT2RTR(0x01A, "CMD_INIT2RTR_QPEE", Group.QP, 192, 0, 0),
  /** 01b: MODIFY_QP from RTR to RTS. */
  RTR2RTS(0x01B, "CMD_RTR2RTS_QPEE", Group.QP, 192, 0, 0),
  /** 01c: MODIFY_QP within RTS. */
  RTS2RTS(0x01C, "CMD_RTS2RTS_QPEE", Group.QP, 192, 0, 0),
  /** 01d: MODIFY_QP from SQE to RTS. */
  SQERR2RTS(0x01D, "CMD_SQERR2RTS_QPEE", Group.QP, 192, 0, 0),
  /** 01e: MODIFY_QP from any state to ERR. */
  ANY2ERR(0x01E, "CMD_2ERR_QPEE", Group.QP, 192, 0, 0),
  /** 01f: MODIFY_QP from RTS to SQD. */
  RTS2SQD(0x01F, "CMD_RTS2SQD_QPEE", Group.QP, 192, 0, 0),
  /** 038: MODIFY_QP within SQD. */
  SQD2SQD(0x038, "CMD_SQD2SQD_QPEE", Group.QP, 192, 0, 0),
  /** 020: MODIFY_QP from SQD to RTS. */
  SQD2RTS(0x020, "CMD_SQD2RTS_QPEE", Group.QP, 192, 0, 0),
  /**
   * 021: MODIFY_QP from any state to RST; op_modifier 3 has no inbox. The RTL answers OK to that
   * form, and its next context command never ends.
   */
  ERR2RST(0x021, "CMD_ERR2RST_QPEE", Group.QP, 192, 0, 0, HcrCommand.NO_INBOX),
  /** 02d: MODIFY_QP within INIT. */
  INIT2INIT(0x02D, "CMD_INIT2INIT_QPEE", Group.QP, 192, 0, 0),
  /** 022: the {@link QueuePairContext} of the QPN in_modifier. */
  QUERY_QP(0x022, "CMD_QUERY_QP", Group.QP, 0, 192, 0),
  /** 023: in the table of commands, but described nowhere. */
  CONF_SPECIAL_QP(0x023, "CMD_CONF_SPECIAL_QP", Group.QP, 0, 0, 0),
  /**
   * 024: in the table of commands, but described nowhere. The RTL requires op_modifier 1, reads no
   * inbox and answers 32 bytes, {@link PortInfo}.
   */
  MAD_IFC(0x024, "CMD_MAD_IFC", Group.QP, 0, 32, 1),
  /** 031: nothing, with in_modifier 1fh. */
  NOP(0x031, "CMD_NOP", Group.OTHERS, 0, 0, 0),
  /** 035: EXTENSION, a {@link SrqContext}; in_modifier is the SRQN. */
  SW2HW_SRQ(0x035, "CMD_SW2HW_SRQ", Group.SRQ, 64, 0, 0),
  /** 036: EXTENSION, invalidate the shared receive queue in_modifier. */
  HW2SW_SRQ(0x036, "CMD_HW2SW_SRQ", Group.SRQ, 0, 0, 0),
  /** 037: EXTENSION, the {@link SrqContext} of the SRQN in_modifier. */
  QUERY_SRQ(0x037, "CMD_QUERY_SRQ", Group.SRQ, 0, 64, 0),
  /** 040: EXTENSION, in_param is the limit, in_modifier the SRQN. */
  ARM_SRQ(0x040, "CMD_ARM_SRQ", Group.SRQ, 0, 0, 0),
  /**
   * 041: EXTENSION, other memory for a shared receive queue, with the same contents and more slots:
   * key, offsets and size of a {@link SrqContext}; in_modifier is the SRQN.
   */
  RESIZE_SRQ(0x041, "CMD_RESIZE_SRQ", Group.SRQ, 64, 0, 0),
  /** 042: EXTENSION, an entry of the {@link GidTable}; in_modifier is its index. */
  WRITE_GID(0x042, "CMD_WRITE_GID", Group.GID, 16, 0, 0),
  /** 025: EXTENSION, the {@link MulticastGroup} at index in_modifier. */
  READ_MGM(0x025, "CMD_READ_MGM", Group.MCG, 0, 256, 0),
  /** 026: EXTENSION, a {@link MulticastGroup}; in_modifier is its index. */
  WRITE_MGM(0x026, "CMD_WRITE_MGM", Group.MCG, 256, 0, 0);

  /** A size that depends on in_modifier. */
  public static final int VARIABLE = -1;

  /** op_modifier of {@link #ERR2RST} without an inbox (table 3-2-39). */
  public static final int NO_INBOX = 3;

  /** in_modifier of {@link #NOP} (table 3-2-44). */
  public static final int NOP_IN_MODIFIER = 0x1F;

  private static final Map<Integer, HcrCommand> BY_CODE =
      Arrays.stream(values())
          .collect(Collectors.toUnmodifiableMap(HcrCommand::code, Function.identity()));

  /** The groups of table 3-2-1. */
  public enum Group {
    /** Device configuration. */
    DEVICE,
    /** Interconnect context memory. */
    ICM,
    /** Translation and protection tables. */
    TPT,
    /** Event queues. */
    EQ,
    /** Completion queues. */
    CQ,
    /** Queue pairs. */
    QP,
    /** Others. */
    OTHERS,
    /** EXTENSION: shared receive queues, which are not in the table. */
    SRQ,
    /** EXTENSION: the port's addresses, which are not in the table. */
    GID,
    /** EXTENSION: multicast groups, which are not in the table. */
    MCG
  }

  private final int code;
  private final String symbol;
  private final Group group;
  private final int inboxSize;
  private final int outboxSize;
  private final int opModifierMask;

  HcrCommand(
      int code, String symbol, Group group, int inboxSize, int outboxSize, int... opModifiers) {
    this.code = code;
    this.symbol = symbol;
    this.group = group;
    this.inboxSize = inboxSize;
    this.outboxSize = outboxSize;
    this.opModifierMask = Arrays.stream(opModifiers).map(value -> 1 << value).sum();
  }

  /** The opcode, 12 bits. */
  public int code() {
    return code;
  }

  /** The document's name, as in {@code CMD_RST2INIT_QPEE}. */
  public String symbol() {
    return symbol;
  }

  /** The group of table 3-2-1. */
  public Group group() {
    return group;
  }

  /** The legal values of op_modifier, in rising order. */
  public List<Integer> opModifiers() {
    return IntStream.range(0, Integer.SIZE).filter(this::allowsOpModifier).boxed().toList();
  }

  /** Whether an op_modifier is legal. */
  public boolean allowsOpModifier(int opModifier) {
    return opModifier >= 0 && opModifier < Integer.SIZE && (opModifierMask >> opModifier & 1) != 0;
  }

  /**
   * Bytes of the mailbox at in_param: 0 for none; {@link #VARIABLE} where in_modifier decides, see
   * {@link MapIcm#size} and {@link WriteMtt#size}.
   */
  public int inboxSize() {
    return inboxSize;
  }

  /** Whether in_param must be the address of a mailbox, given an op_modifier. */
  public boolean hasInbox(int opModifier) {
    return inboxSize != 0 && !(isModifyQp() && opModifier == NO_INBOX);
  }

  /** Whether in_param is the argument itself rather than an address. */
  public boolean hasImmediateInput() {
    return this == UNMAP_ICM || this == MAP_EQ || this == ARM_SRQ;
  }

  /** Bytes of the mailbox at out_param, 0 for none. */
  public int outboxSize() {
    return outboxSize;
  }

  /**
   * Whether the document does not define the command. A device that does not announce it answers
   * BAD_OP.
   */
  public boolean isExtension() {
    return group == Group.SRQ || group == Group.GID || group == Group.MCG;
  }

  /** Whether this is one of the eleven forms of MODIFY_QP (table 3-2-39). */
  public boolean isModifyQp() {
    return group == Group.QP && inboxSize != 0;
  }

  /** The command with this opcode. */
  public static Optional<HcrCommand> of(int code) {
    return Optional.ofNullable(BY_CODE.get(code));
  }
}

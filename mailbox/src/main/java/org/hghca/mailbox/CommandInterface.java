package org.hghca.mailbox;

import static org.hghca.abi.HcrCommand.ARM_SRQ;
import static org.hghca.abi.HcrCommand.CLOSE_HCA;
import static org.hghca.abi.HcrCommand.CONF_SPECIAL_QP;
import static org.hghca.abi.HcrCommand.ERR2RST;
import static org.hghca.abi.HcrCommand.HW2SW_CQ;
import static org.hghca.abi.HcrCommand.HW2SW_EQ;
import static org.hghca.abi.HcrCommand.HW2SW_MPT;
import static org.hghca.abi.HcrCommand.HW2SW_SRQ;
import static org.hghca.abi.HcrCommand.INIT_HCA;
import static org.hghca.abi.HcrCommand.MAD_IFC;
import static org.hghca.abi.HcrCommand.MAP_EQ;
import static org.hghca.abi.HcrCommand.MAP_ICM;
import static org.hghca.abi.HcrCommand.NOP;
import static org.hghca.abi.HcrCommand.QUERY_ADAPTER;
import static org.hghca.abi.HcrCommand.QUERY_DEV_LIM;
import static org.hghca.abi.HcrCommand.QUERY_QP;
import static org.hghca.abi.HcrCommand.QUERY_SRQ;
import static org.hghca.abi.HcrCommand.READ_MGM;
import static org.hghca.abi.HcrCommand.RESIZE_CQ;
import static org.hghca.abi.HcrCommand.RESIZE_SRQ;
import static org.hghca.abi.HcrCommand.SW2HW_CQ;
import static org.hghca.abi.HcrCommand.SW2HW_EQ;
import static org.hghca.abi.HcrCommand.SW2HW_MPT;
import static org.hghca.abi.HcrCommand.SW2HW_SRQ;
import static org.hghca.abi.HcrCommand.UNMAP_ICM;
import static org.hghca.abi.HcrCommand.WRITE_GID;
import static org.hghca.abi.HcrCommand.WRITE_MGM;
import static org.hghca.abi.HcrCommand.WRITE_MTT;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongUnaryOperator;
import org.hghca.abi.AdapterInfo;
import org.hghca.abi.CommandStatus;
import org.hghca.abi.CompletionQueueContext;
import org.hghca.abi.DeviceLimits;
import org.hghca.abi.EventQueueContext;
import org.hghca.abi.GidTable;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.IcmChunk;
import org.hghca.abi.InitHca;
import org.hghca.abi.MapEq;
import org.hghca.abi.MapIcm;
import org.hghca.abi.Mpt;
import org.hghca.abi.MulticastGroup;
import org.hghca.abi.PortInfo;
import org.hghca.abi.QueuePairContext;
import org.hghca.abi.ResizeCq;
import org.hghca.abi.SrqContext;
import org.hghca.abi.WriteMtt;
import org.hghca.vfio.PciFunction;

/**
 * Gives commands to a card: one typed method for each command of table 3-2-1. Thread-safe; the card
 * takes one command at a time, so callers wait for each other. Interrupting a thread does not
 * disturb its command; the interrupt stays pending.
 *
 * <p>In addition to its own exceptions, every command may throw
 *
 * <ul>
 *   <li>{@link CommandException} when the card completes it with a status other than OK;
 *   <li>{@link CommandTimeoutException} when it does not complete it within the limit, and {@link
 *       DeviceFatalException} when it is gone. From then on the card is dead: every later call
 *       throws {@code DeviceFatalException} at once, with the first failure as its cause, and no
 *       register is accessed;
 *   <li>{@link UnsupportedCommandException} when the card must not be given the command;
 *   <li>{@link IllegalArgumentException} when an argument does not fit its field;
 *   <li>{@link IllegalStateException} after {@link #close}.
 * </ul>
 *
 * <p>Status OK means that the card has accepted the request. A card may check little more than
 * opcode and op_modifier, and also answer OK for an index that does not exist.
 */
public final class CommandInterface implements AutoCloseable {
  /** A million times the duration of a command. */
  public static final Duration DEFAULT_LIMIT = Duration.ofSeconds(10);

  private final HardwareProfile profile;
  private final CommandChannel channel;

  private CommandInterface(HardwareProfile profile, CommandChannel channel) {
    this.profile = profile;
    this.channel = channel;
  }

  /** Opens the command interface of a function with {@link #DEFAULT_LIMIT}. */
  public static CommandInterface open(PciFunction function, HardwareProfile profile) {
    return open(function, profile, DEFAULT_LIMIT);
  }

  /**
   * Opens the command interface of a function, with the HCR at the offset that the profile defines.
   */
  public static CommandInterface open(
      PciFunction function, HardwareProfile profile, Duration limit) {
    return open(function, profile, profile.hcrBase(), limit);
  }

  /**
   * Opens the command interface of a function. Bus mastering must be on before the first command.
   *
   * @param hcrBase where the HCR is in BAR0
   * @param limit the maximum time that the card may take for a command, greater than zero
   * @throws DeviceFatalException when no free HCR responds there; the message reports what was read
   */
  public static CommandInterface open(
      PciFunction function, HardwareProfile profile, long hcrBase, Duration limit) {
    if (!limit.isPositive()) {
      throw new IllegalArgumentException("a command limit must be positive, not " + limit);
    }
    CommandChannel channel = new CommandChannel(function, hcrBase, limit);
    channel.check(function);
    return new CommandInterface(profile, channel);
  }

  /**
   * The same interface with the rules of another profile, for use after a command has identified
   * the profile. Closing either closes both.
   */
  public CommandInterface as(HardwareProfile other) {
    return new CommandInterface(other, channel);
  }

  /**
   * Registers a listener for the death of the card. It is called once, on the thread whose command
   * detected it, without a lock of this object. A listener that is registered later is called at
   * once.
   */
  public void onFatal(Consumer<? super Throwable> listener) {
    channel.onFatal(listener);
  }

  /** Number of commands that the card was given so far. */
  public long commandsGiven() {
    return channel.given();
  }

  /**
   * Reports that the function was reset after the card had failed: the reset canceled the command
   * that did not complete, so that its mailboxes can be freed. This interface stays in the error
   * state; open another.
   */
  public void deviceWasReset() {
    channel.deviceWasReset();
  }

  /**
   * Frees the mailboxes, after the command in progress. Those of a command that never completed
   * stay allocated, because the card may still write to them, until {@link #deviceWasReset} or the
   * close of the function. Closing twice does nothing.
   */
  @Override
  public void close() {
    channel.close();
  }

  /** QUERY_DEV_LIM: the limits of the card (3.2.1.1). */
  public DeviceLimits queryDeviceLimits() {
    return channel.execute(
        Command.out(QUERY_DEV_LIM, 0, 0, DeviceLimits::decode, DeviceLimits.LAYOUT::describe));
  }

  /**
   * Returns when a doorbell may be rung for the effects of earlier commands: on a profile on which
   * it could overtake them, one more command provides the necessary delay; on others at once.
   */
  public void awaitExecution() {
    if (profile.doorbellsOvertakeCommands()) {
      queryDeviceLimits();
    }
  }

  /** QUERY_ADAPTER: the board (3.2.1.2). */
  public AdapterInfo queryAdapter() {
    return channel.execute(
        Command.out(QUERY_ADAPTER, 0, 0, AdapterInfo::decode, AdapterInfo.LAYOUT::describe));
  }

  /**
   * INIT_HCA: the positions of the tables in ICM (3.2.1.3). It must precede any {@link #mapIcm}.
   */
  public void initHca(InitHca tables) {
    channel.execute(Command.in(INIT_HCA, 0, 0, tables::encode, InitHca.LAYOUT::describe));
  }

  /** CLOSE_HCA: the card releases the tables in ICM (3.2.1.4). */
  public void closeHca() {
    channel.execute(Command.of(CLOSE_HCA, 0, 0));
  }

  /**
   * MAP_ICM: backs ICM with pages (3.2.2.1).
   *
   * @param tables {@link MapIcm#CONTEXTS} for QPC, CQC and EQC, {@link MapIcm#TRANSLATION} for MPT
   *     and MTT
   * @param chunks at least one, all of one table; the profile limits their number and length
   */
  public void mapIcm(int tables, List<IcmChunk> chunks) {
    int most = profile.mapIcmMaxEntries();
    if (chunks.size() > most) {
      throw new UnsupportedCommandException(
          "MAP_ICM of %d entries: profile %s takes %d in a command"
              .formatted(chunks.size(), profile, most));
    }
    int longest = profile.mapIcmMaxPagesPerEntry();
    for (IcmChunk chunk : chunks) {
      if (chunk.pages() > longest) {
        throw new UnsupportedCommandException(
            "MAP_ICM of %d pages in an entry: profile %s takes %d"
                .formatted(chunk.pages(), profile, longest));
      }
    }
    channel.execute(
        Command.in(
            MAP_ICM,
            tables,
            chunks.size(),
            inbox -> MapIcm.encode(inbox, chunks),
            inbox -> MapIcm.describe(inbox, chunks.size())));
  }

  /**
   * UNMAP_ICM: unmaps pages from ICM (3.2.2.2).
   *
   * @param tables as in {@link #mapIcm}
   * @param virtualAddress HCA-virtual address of the first page
   */
  public void unmapIcm(int tables, long virtualAddress, int pages) {
    channel.execute(Command.immediate(UNMAP_ICM, tables, pages, virtualAddress));
  }

  /** SW2HW_MPT: gives the card an MPT entry (3.2.3.1). */
  public void sw2hwMpt(int index, Mpt entry) {
    channel.execute(Command.in(SW2HW_MPT, 0, index, entry::encode, Mpt.LAYOUT::describe));
  }

  /** HW2SW_MPT: takes an MPT entry back (3.2.3.2). The next access with its key fails. */
  public void hw2swMpt(int index) {
    channel.execute(Command.of(HW2SW_MPT, 0, index));
  }

  /**
   * WRITE_MTT: gives the card page addresses (3.2.3.3).
   *
   * @param startIndex index of the first MTT entry
   * @param count 1 to {@link WriteMtt#MAX_ENTRIES}
   * @param pageAddress the bus address of the page of entry i, called once for each i, from 0
   */
  public void writeMtt(long startIndex, int count, LongUnaryOperator pageAddress) {
    if (count < 1 || count > WriteMtt.MAX_ENTRIES) {
      throw new UnsupportedCommandException(
          "WRITE_MTT of %d entries: profile %s takes 1 to %d in a command"
              .formatted(count, profile, WriteMtt.MAX_ENTRIES));
    }
    channel.execute(
        Command.in(
            WRITE_MTT,
            0,
            count,
            inbox -> WriteMtt.encode(inbox, startIndex, count, pageAddress),
            inbox -> WriteMtt.describe(inbox, count)));
  }

  /**
   * MAP_EQ: starts or stops reporting events to an event queue (3.2.4.1).
   *
   * @param eventMask a bit for each event type, table 3-2-25
   */
  public void mapEq(int eqn, boolean unmap, long eventMask) {
    channel.execute(Command.immediate(MAP_EQ, 0, MapEq.inModifier(unmap, eqn), eventMask));
  }

  /** SW2HW_EQ: gives the card an event queue (3.2.4.2). */
  public void sw2hwEq(int eqn, EventQueueContext context) {
    channel.execute(
        Command.in(SW2HW_EQ, 0, eqn, context::encode, EventQueueContext.LAYOUT::describe));
  }

  /** HW2SW_EQ: takes an event queue back (3.2.4.3). */
  public void hw2swEq(int eqn) {
    channel.execute(Command.of(HW2SW_EQ, 0, eqn));
  }

  /** SW2HW_CQ: gives the card a completion queue (3.2.5.1). */
  public void sw2hwCq(int cqn, CompletionQueueContext context) {
    channel.execute(
        Command.in(SW2HW_CQ, 0, cqn, context::encode, CompletionQueueContext.LAYOUT::describe));
  }

  /** HW2SW_CQ: takes a completion queue back (3.2.5.2). */
  public void hw2swCq(int cqn) {
    channel.execute(Command.of(HW2SW_CQ, 0, cqn));
  }

  /**
   * RESIZE_CQ: gives a completion queue other memory (3.2.5.3).
   *
   * @throws UnsupportedCommandException on a profile that it hangs
   */
  public void resizeCq(int cqn, ResizeCq memory) {
    if (!profile.resizeCq()) {
      throw new UnsupportedCommandException(
          "RESIZE_CQ hangs a card of profile %s: create a new CQ instead".formatted(profile));
    }
    channel.execute(Command.in(RESIZE_CQ, 0, cqn, memory::encode, ResizeCq.LAYOUT::describe));
  }

  /**
   * MODIFY_QP: changes the context of a queue pair (3.2.6.1). All of it must be filled in, whatever
   * the mask selects, because not every profile reads the mask.
   *
   * @param transition one of the eleven forms of table 3-2-39
   * @param context with the state after the transition
   */
  public void modifyQp(HcrCommand transition, int qpn, QueuePairContext context) {
    if (!transition.isModifyQp()) {
      throw new IllegalArgumentException("%s is not a form of MODIFY_QP".formatted(transition));
    }
    channel.execute(
        Command.in(transition, 0, qpn, context::encode, QueuePairContext.LAYOUT::describe));
  }

  /**
   * MODIFY_QP to RST without a context, op_modifier 3 of table 3-2-39. {@link #modifyQp} with a
   * context whose state is RST does the same.
   *
   * @throws UnsupportedCommandException on a profile that it hangs
   */
  public void resetQp(int qpn) {
    if (!profile.modifyQpWithoutInbox()) {
      throw new UnsupportedCommandException(
          ("MODIFY_QP without an inbox hangs a card of profile %s: send the whole context with"
                  + " state RST")
              .formatted(profile));
    }
    channel.execute(Command.of(ERR2RST, HcrCommand.NO_INBOX, qpn));
  }

  /**
   * QUERY_QP: the card's context of a queue pair (3.2.6.2). The ICM of the queue pair must be
   * mapped.
   */
  public QueuePairContext queryQp(int qpn) {
    return channel.execute(
        Command.out(QUERY_QP, 0, qpn, QueuePairContext::decode, QueuePairContext.LAYOUT::describe));
  }

  /**
   * WRITE_GID: sets an entry of the device's table of GIDs, if it announces one.
   *
   * @param index from 0 to below {@link GidTable#SIZE}
   * @param high the first 8 bytes of the GID
   * @throws CommandException with BAD_PARAM when its port cannot send from the address
   */
  public void writeGid(int index, long high, long low) {
    channel.execute(
        Command.in(
            WRITE_GID,
            0,
            index,
            inbox -> {
              GidTable.GID_HIGH.setLong(inbox, high);
              GidTable.GID_LOW.setLong(inbox, low);
            },
            GidTable.LAYOUT::describe));
  }

  /** SW2HW_SRQ: gives the device a shared receive queue, if it announces them. */
  public void sw2hwSrq(int srqn, SrqContext context) {
    channel.execute(Command.in(SW2HW_SRQ, 0, srqn, context::encode, SrqContext.LAYOUT::describe));
  }

  /** HW2SW_SRQ: takes a shared receive queue back. */
  public void hw2swSrq(int srqn) {
    channel.execute(Command.of(HW2SW_SRQ, 0, srqn));
  }

  /** QUERY_SRQ: the device's context of a shared receive queue. */
  public SrqContext querySrq(int srqn) {
    return channel.execute(
        Command.out(QUERY_SRQ, 0, srqn, SrqContext::decode, SrqContext.LAYOUT::describe));
  }

  /**
   * ARM_SRQ: requests an event when fewer requests than a limit are left.
   *
   * @param limit 16 bits, 0 for none
   */
  public void armSrq(int srqn, int limit) {
    channel.execute(Command.immediate(ARM_SRQ, 0, srqn, limit));
  }

  /**
   * RESIZE_SRQ: gives a shared receive queue other memory, with the same WQEs in the same slots.
   */
  public void resizeSrq(int srqn, SrqContext memory) {
    channel.execute(Command.in(RESIZE_SRQ, 0, srqn, memory::encode, SrqContext.LAYOUT::describe));
  }

  /** READ_MGM: a multicast group of the device, if it announces them. */
  public MulticastGroup readMgm(int index) {
    return channel.execute(
        Command.out(READ_MGM, 0, index, MulticastGroup::decode, MulticastGroup::describe));
  }

  /** WRITE_MGM: sets a multicast group; one without queue pairs is freed. */
  public void writeMgm(int index, MulticastGroup group) {
    channel.execute(Command.in(WRITE_MGM, 0, index, group::encode, MulticastGroup::describe));
  }

  /**
   * CONF_SPECIAL_QP, which table 3-2-1 lists but the document does not describe. Not every card
   * supports it.
   */
  public void confSpecialQp(int qpn) {
    channel.execute(Command.of(CONF_SPECIAL_QP, 0, qpn));
  }

  /**
   * MAD_IFC, which table 3-2-1 lists but the document does not describe: the port, in the format of
   * {@link PortInfo}.
   */
  public PortInfo madIfc() {
    return channel.execute(Command.out(MAD_IFC, 1, 0, PortInfo::decode, PortInfo.LAYOUT::describe));
  }

  /**
   * NOP: returns if the HCR and the command unit work (3.2.7.1); it does not test the rest of the
   * card. Not every card supports the command; BAD_OP proves as much as an OK.
   */
  public void nop() {
    try {
      channel.execute(Command.of(NOP, 0, HcrCommand.NOP_IN_MODIFIER));
    } catch (CommandException e) {
      if (e.statusCode() != CommandStatus.BAD_OP.code()) {
        throw e;
      }
    }
  }
}

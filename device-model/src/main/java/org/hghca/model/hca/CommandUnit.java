package org.hghca.model.hca;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.hghca.abi.AdapterInfo;
import org.hghca.abi.CommandStatus;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.InitHca;
import org.hghca.abi.MapEq;
import org.hghca.abi.MapIcm;
import org.hghca.abi.OptParamMask;
import org.hghca.abi.PortInfo;
import org.hghca.abi.QueuePairContext;
import org.hghca.abi.WriteMtt;
import org.hghca.model.card.HostMemory;
import org.hghca.model.transport.QueuePairState;
import org.hghca.model.transport.Transport;
import org.hghca.wire.EthernetPort;

/**
 * The command unit: executes the command in the HCR. All parameter checks are in this class and in
 * the tables to which it passes entries. If the interface document names no status for a refusal,
 * it is BAD_PARAM; the same applies to a command before INIT_HCA that needs it, a second INIT_HCA,
 * an entry that the wrong side owns, and an inaccessible mailbox.
 */
final class CommandUnit {
  private static final int MAILBOX_SIZE = 4096;
  private static final int PAGE_MASK = MapIcm.PAGE_SIZE - 1;

  /** A number of pages greater than any map. */
  private static final int MAX_PAGES = 1 << 22;

  private static final int LID = 1;
  private static final int PORT_DOWN = 1;
  private static final int PORT_ACTIVE = 4;
  private static final int PHYSICAL_POLLING = 2;
  private static final int PHYSICAL_LINK_UP = 5;

  /** What the RTL answers to QUERY_ADAPTER; the document names no value. */
  private static final AdapterInfo ADAPTER = new AdapterInfo(0x0123_4567_89ab_cdefL);

  private final HardwareProfile profile;
  private final HostMemory host;
  private final Icm icm;
  private final TranslationTables memory;
  private final CompletionQueues completionQueues;
  private final EventQueues eventQueues;
  private final EventRouting events;
  private final SharedReceiveQueues sharedQueues;
  private final QueuePairTable queuePairs;
  private final QueuePositions.Table positions;
  private final Transport transport;
  private final LocalGids gids;
  private final EthernetPort port;
  private final MulticastGroups groups;
  private final MemorySegment mailbox = Arena.ofAuto().allocate(MAILBOX_SIZE, 64);

  CommandUnit(
      HardwareProfile profile,
      HostMemory host,
      Icm icm,
      ContextTables tables,
      Transport transport,
      LocalGids gids,
      EthernetPort port) {
    this.profile = profile;
    this.host = host;
    this.icm = icm;
    this.memory = tables.memory();
    this.completionQueues = tables.completionQueues();
    this.eventQueues = tables.eventQueues();
    this.events = tables.events();
    this.sharedQueues = tables.sharedQueues();
    this.queuePairs = tables.queuePairs();
    this.positions = tables.positions();
    this.transport = transport;
    this.gids = gids;
    this.port = port;
    this.groups = new MulticastGroups(transport.groups(), port);
  }

  /** Executes a command and returns its status. */
  CommandStatus execute(int op, int opModifier, long in, int modifier, long out) {
    HcrCommand command = HcrCommand.of(op).orElse(null);
    if (command == null || command == HcrCommand.CONF_SPECIAL_QP) {
      return CommandStatus.BAD_OP;
    }
    boolean hasInbox = command.hasInbox(opModifier);
    if (!command.allowsOpModifier(opModifier)
        || hasInbox && in == 0
        || command.outboxSize() > 0 && out == 0
        || needsTables(command) && !icm.isInitialized()) {
      return CommandStatus.BAD_PARAM;
    }
    if (hasInbox) {
      int size = inboxSize(command, modifier);
      if (size == 0 || !host.read(in, mailbox, 0, size)) {
        return CommandStatus.BAD_PARAM;
      }
    }
    // Commands see the contexts as the transport left them.
    transport.beforeCommand();
    boolean done = dispatch(command, opModifier, in, modifier);
    queuePairs.forgetDecoded();
    if (done && command.outboxSize() > 0) {
      done = host.write(out, mailbox, 0, command.outboxSize());
    }
    return done ? CommandStatus.OK : CommandStatus.BAD_PARAM;
  }

  private static boolean needsTables(HcrCommand command) {
    return switch (command) {
      case QUERY_DEV_LIM, QUERY_ADAPTER, INIT_HCA, MAD_IFC, NOP -> false;
      default -> true;
    };
  }

  /** Bytes of the inbox, 0 when the number of entries is not allowed. */
  private int inboxSize(HcrCommand command, int modifier) {
    return switch (command) {
      case MAP_ICM -> modifier < 1 || modifier > MapIcm.MAX_ENTRIES ? 0 : MapIcm.size(modifier);
      case WRITE_MTT ->
          modifier < 1 || modifier > WriteMtt.MAX_ENTRIES ? 0 : WriteMtt.size(modifier);
      default -> command.inboxSize();
    };
  }

  /** Executes a command whose mailbox is loaded; the result goes into the mailbox. */
  private boolean dispatch(HcrCommand command, int opModifier, long in, int modifier) {
    return switch (command) {
      case QUERY_DEV_LIM -> {
        CardLimits.of(port).encode(mailbox);
        yield true;
      }
      case QUERY_ADAPTER -> {
        ADAPTER.encode(mailbox);
        yield true;
      }
      case INIT_HCA -> initialize();
      case CLOSE_HCA -> {
        reset();
        yield true;
      }
      case MAP_ICM -> mapIcm(opModifier == MapIcm.TRANSLATION, modifier);
      case UNMAP_ICM -> unmapIcm(opModifier == MapIcm.TRANSLATION, in, modifier);
      case SW2HW_MPT -> memory.take(modifier, mailbox);
      case HW2SW_MPT -> memory.release(modifier);
      case WRITE_MTT -> memory.writePages(mailbox, modifier);
      case MAP_EQ -> events.map(MapEq.eqn(modifier), MapEq.isUnmap(modifier), in);
      case SW2HW_EQ -> eventQueues.take(modifier, mailbox);
      case HW2SW_EQ -> {
        events.unmap(modifier);
        yield eventQueues.release(modifier);
      }
      case SW2HW_CQ -> completionQueues.take(modifier, mailbox);
      case HW2SW_CQ -> completionQueues.release(modifier);
      case RESIZE_CQ -> completionQueues.resize(modifier, mailbox);
      case SW2HW_SRQ -> sharedQueues.take(modifier, mailbox);
      case HW2SW_SRQ -> sharedQueues.release(modifier);
      case RESIZE_SRQ -> sharedQueues.resize(modifier, mailbox);
      case QUERY_SRQ -> sharedQueues.query(modifier, mailbox);
      case ARM_SRQ -> in >>> 32 == 0 && sharedQueues.arm(modifier, (int) in);
      case WRITE_GID -> gids.write(modifier, mailbox);
      case READ_MGM -> groups.read(modifier, mailbox);
      case WRITE_MGM -> groups.write(modifier, mailbox);
      case QUERY_QP -> queryQueuePair(modifier);
      case MAD_IFC -> {
        portInfo().encode(mailbox);
        yield true;
      }
      case NOP -> true;
      default -> modifyQueuePair(command, opModifier, modifier);
    };
  }

  private boolean initialize() {
    InitHca tables = InitHca.decode(mailbox);
    if (icm.isInitialized()
        || tables.logQps() > CardLimits.ALL.maxQpsLog()
        || tables.logCqs() > CardLimits.ALL.maxCqsLog()
        || tables.logEqs() > CardLimits.ALL.maxEqsLog()
        || tables.logMpts() > CardLimits.ALL.maxMptsLog()
        || tables.mttBase() % PageWindows.ENTRY != 0) {
      return false;
    }
    icm.initialize(tables, profile);
    return true;
  }

  /** Clears all state from commands. */
  void reset() {
    transport.resetAll();
    positions.forgetAll();
    queuePairs.reset();
    groups.reset();
    sharedQueues.reset();
    gids.reset();
    completionQueues.reset();
    eventQueues.reset();
    events.reset();
    memory.reset();
    icm.close();
  }

  private boolean mapIcm(boolean forTranslation, int entries) {
    for (int i = 0; i < entries; i++) {
      int at = MapIcm.offset(i);
      long virt = MapIcm.VIRTUAL_ADDRESS.getLong(mailbox, at);
      int pages = MapIcm.PAGES.get(mailbox, at);
      if ((virt & PAGE_MASK) != 0
          || pages == 0
          || !icm.map(forTranslation, virt, MapIcm.PAGE_ADDRESS.getLong(mailbox, at), pages)) {
        return false;
      }
    }
    return true;
  }

  private boolean unmapIcm(boolean forTranslation, long virt, int pages) {
    if ((virt & PAGE_MASK) != 0 || pages < 1 || pages > MAX_PAGES) {
      return false;
    }
    icm.unmap(forTranslation, virt, pages);
    return true;
  }

  private boolean queryQueuePair(int qpn) {
    MemorySegment context = queuePairs.query(qpn);
    if (context == null) {
      return false;
    }
    mailbox.asSlice(0, QueuePairContext.LAYOUT.size()).copyFrom(context);
    return true;
  }

  private boolean modifyQueuePair(HcrCommand command, int opModifier, int qpn) {
    boolean done =
        command.hasInbox(opModifier)
            ? queuePairs.modify(command, qpn, mailbox)
            : queuePairs.clear(qpn);
    if (done && command == HcrCommand.ERR2RST) {
      transport.reset(qpn);
      positions.forget(qpn);
    } else if (done) {
      int state = QueuePairContext.STATE.get(mailbox);
      transport.modified(qpn, QueuePairState.values()[state]);
      int mask = QueuePairContext.OPT_PARAM_MASK.get(mailbox);
      if (command == HcrCommand.RTS2SQD && (mask & OptParamMask.EN_SQD_ASYNC_NOTIFY) != 0) {
        transport.notifyDrained(qpn);
      }
      transport.settle();
    }
    return done;
  }

  private PortInfo portInfo() {
    return port.isUp()
        ? new PortInfo(LID, PORT_ACTIVE, PHYSICAL_LINK_UP)
        : new PortInfo(LID, PORT_DOWN, PHYSICAL_POLLING);
  }
}

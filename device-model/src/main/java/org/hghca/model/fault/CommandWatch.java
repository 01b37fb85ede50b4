package org.hghca.model.fault;

import java.lang.foreign.MemorySegment;
import org.hghca.abi.Bar;
import org.hghca.abi.CommandStatus;
import org.hghca.abi.CompletionQueueContext;
import org.hghca.abi.Doorbell;
import org.hghca.abi.EventQueueContext;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.MapIcm;
import org.hghca.abi.QueuePairContext;
import org.hghca.abi.ResizeCq;
import org.hghca.abi.SrqContext;
import org.hghca.abi.WriteMtt;

/**
 * Follows the commands of an HCA. The inbox of a command is what the card itself fetches of it; the
 * command counts when the driver sees its end, or gives the next one.
 */
final class CommandWatch implements Watch {
  private static final int MAILBOX = 4096;
  private static final int DWORD = 4;

  private final HardwareProfile profile;
  private final int[] registers = new int[Hcr.SIZE / DWORD];
  private final MemorySegment inbox = MemorySegment.ofArray(new byte[MAILBOX]);
  private final HostTables tables = new HostTables();

  /** The command that runs; null between commands. */
  private HcrCommand command;

  private int opModifier;

  /**
   * @param type the profile
   */
  CommandWatch(CardType type) {
    profile = HardwareProfile.byName(type.label());
  }

  private long parameter(int offset) {
    return (long) registers[offset / DWORD] << Integer.SIZE
        | Integer.toUnsignedLong(registers[offset / DWORD + 1]);
  }

  private long in() {
    return parameter(Hcr.IN_PARAM_HIGH);
  }

  private long out() {
    return parameter(Hcr.OUT_PARAM_HIGH);
  }

  @Override
  public synchronized void writing(int bar, long offset, int width, long value) {
    long at = offset - profile.hcrBase();
    if (bar != Bar.BAR0 || width != DWORD || at < 0 || at >= Hcr.SIZE || at % DWORD != 0) {
      return;
    }
    if (command != null) {
      end(CommandStatus.OK.code()); // unseen, as by a driver that waits for events
    }
    registers[(int) at / DWORD] = (int) value;
    if (at == Hcr.COMMAND && Hcr.go((int) value)) {
      command = HcrCommand.of(Hcr.op((int) value)).orElse(null);
      opModifier = Hcr.opModifier((int) value);
      inbox.fill((byte) 0);
    }
  }

  @Override
  public synchronized void hasRead(int bar, long offset, long value) {
    if (command != null
        && bar == Bar.BAR0
        && offset == profile.hcrBase() + Hcr.COMMAND
        && !Hcr.go((int) value)) {
      end(Hcr.status((int) value));
    }
  }

  private void end(int status) {
    HcrCommand ended = command;
    command = null;
    if (status == CommandStatus.OK.code()) {
      follow(ended, registers[Hcr.IN_MODIFIER / DWORD]);
    }
  }

  private void follow(HcrCommand done, int modifier) {
    switch (done) {
      case CLOSE_HCA -> tables.clear();
      case MAP_ICM -> {
        if (modifier >= 1 && modifier <= MapIcm.MAX_ENTRIES) {
          tables.map(inbox, modifier);
        }
      }
      case UNMAP_ICM -> tables.unmap(in(), modifier);
      case WRITE_MTT -> {
        if (modifier >= 1 && modifier <= WriteMtt.MAX_ENTRIES) {
          tables.writePages(inbox, modifier);
        }
      }
      case SW2HW_MPT -> tables.register(modifier, inbox);
      case HW2SW_MPT -> tables.deregister(modifier);
      case SW2HW_CQ ->
          tables.add(
              Use.COMPLETION,
              modifier,
              CompletionQueueContext.LOG_SIZE.get(inbox),
              CompletionQueueContext.LKEY.get(inbox),
              CompletionQueueContext.START.getLong(inbox));
      case RESIZE_CQ ->
          tables.add(
              Use.COMPLETION, modifier, ResizeCq.LOG_SIZE.get(inbox), ResizeCq.LKEY.get(inbox), 0);
      case HW2SW_CQ -> tables.remove(Use.COMPLETION, modifier);
      case SW2HW_EQ ->
          tables.add(
              Use.EVENT,
              modifier,
              EventQueueContext.LOG_SIZE.get(inbox),
              EventQueueContext.LKEY.get(inbox),
              0);
      case HW2SW_EQ -> tables.remove(Use.EVENT, modifier);
      case SW2HW_SRQ, RESIZE_SRQ -> tables.isWork(SrqContext.LKEY.get(inbox));
      default -> {
        if (done.isModifyQp() && done.hasInbox(opModifier)) {
          tables.isWork(QueuePairContext.SEND_WQE_LKEY.get(inbox));
          tables.isWork(QueuePairContext.RECEIVE_WQE_LKEY.get(inbox));
        }
      }
    }
  }

  @Override
  public synchronized void fetched(long iova, MemorySegment to, long offset, long length) {
    if (isInbox(iova)) {
      long at = iova - in();
      MemorySegment.copy(to, offset, inbox, at, Math.min(length, MAILBOX - at));
    }
  }

  private boolean isInbox(long iova) {
    return command != null
        && command.hasInbox(opModifier)
        && iova - in() >= 0
        && iova - in() < MAILBOX;
  }

  @Override
  public synchronized Place place(long iova, boolean written) {
    if (command != null && written && iova - out() >= 0 && iova - out() < command.outboxSize()) {
      return new Place(answer(command), iova - out(), command.outboxSize(), null);
    }
    if (!written && isInbox(iova)) {
      return Place.of(Use.REQUEST);
    }
    Ring ring = tables.ring(iova);
    if (ring != null) {
      return new Place(ring.use, 0, 0, ring);
    }
    return Place.of(tables.isIcm(iova) ? Use.ICM : tables.isWork(iova) ? Use.REQUEST : Use.PAYLOAD);
  }

  private static Use answer(HcrCommand command) {
    return switch (command) {
      case QUERY_DEV_LIM -> Use.LIMITS;
      case QUERY_ADAPTER -> Use.ADAPTER;
      default -> Use.ANSWER;
    };
  }

  @Override
  public boolean isDoorbell(int bar, long offset) {
    return bar == Bar.BAR2;
  }

  @Override
  public boolean isSendDoorbell(int bar, long offset, int width, long value) {
    return bar == Bar.BAR2
        && offset % Bar.UAR_PAGE_SIZE == Doorbell.SEND_QUEUE
        && width == Long.BYTES;
  }

  @Override
  public synchronized long misplaced(long iova, int first, int end, int back) {
    return tables.misplaced(iova, first, end, back);
  }

  @Override
  public synchronized long contiguous(long iova) {
    return tables.contiguous(iova);
  }

  @Override
  public synchronized long firstPage(long iova) {
    return tables.firstPage(iova);
  }

  @Override
  public synchronized long firstRegion(long iova) {
    return tables.firstRegion(iova);
  }

  @Override
  public synchronized long alias(long iova) {
    return tables.alias(iova);
  }

  @Override
  public synchronized void reset() {
    command = null;
    tables.clear();
  }
}

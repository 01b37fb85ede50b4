package org.hghca.model.rtl;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.hghca.abi.CompletionQueueContext;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.InitHca;
import org.hghca.abi.MapIcm;
import org.hghca.model.card.HostMemory;

/**
 * The context manager: commands about queue pairs, completion queues and event queues, and the map
 * of their tables. It reports no error, but some commands leave it waiting for a part that never
 * arrives; then the next command fails.
 */
final class ContextManager implements Contexts {
  private static final int NUMBERS_R1 = 1 << 13;
  private static final int NUMBERS_R2 = 1 << 8;
  private static final int QPC_IMAGE = 164;
  private static final int CQC_IMAGE = 56;
  private static final int EQC_IMAGE = 48;

  /** The number of MAP_ICM entries up to which it works, and up to which it at least completes. */
  private static final int MAP_ENTRIES = 28;

  private static final int MAP_ENTRIES_ANSWERED = 30;

  /** The number of 32-byte groups that exceeds the length of an inbox: then it reads none. */
  private static final int BEATS_OF_NO_LENGTH = 128;

  /** The number of 32-byte groups at which its input queue is full. One more is accepted. */
  private static final int QUEUED_BEATS = 13;

  private enum Parser {
    READY,
    /** It waits for more data of a command that has none; the next one never completes. */
    STUCK,
    /** It interprets the first 32 bytes of the next command as the rest of a RESIZE_CQ. */
    RESIZING,
    /**
     * It interprets commands as the entries of a MAP_ICM that has read none, and never gets enough.
     */
    STARVING
  }

  private final HostMemory host;
  private final Hazards hazards;
  private final boolean second;

  /** The number of each; of larger numbers only the low bits are used. */
  private final int numbers;

  private final ContextMap icm;
  private final QueuePairImage images;
  private final MemorySegment buffer = Arena.ofAuto().allocate(2 * Beats.SIZE, 64);
  private final MemorySegment resized = Arena.ofAuto().allocate(2 * Beats.SIZE, 64);
  private OnChipQp[] queuePairs;
  private OnChipCq[] completionQueues;
  private Parser parser = Parser.READY;

  /** The number in the RESIZE_CQ that is not complete. */
  private int resizedCqn;

  /** Number of 32-byte groups in its queue while it waits for data. */
  private int queuedBeats;

  ContextManager(HardwareProfile profile, HostMemory host, Hazards hazards) {
    this.host = host;
    this.hazards = hazards;
    this.second = profile == HardwareProfile.R2;
    this.numbers = second ? NUMBERS_R2 : NUMBERS_R1;
    this.icm = new ContextMap(profile);
    this.images = new QueuePairImage(host);
    this.queuePairs = new OnChipQp[numbers];
    this.completionQueues = new OnChipCq[numbers];
  }

  @Override
  public OnChipQp queuePair(int qpn) {
    int number = qpn & numbers - 1;
    if (queuePairs[number] == null) {
      queuePairs[number] = new OnChipQp(number);
    }
    return queuePairs[number];
  }

  @Override
  public OnChipCq completionQueue(int cqn) {
    int number = cqn & numbers - 1;
    if (completionQueues[number] == null) {
      completionQueues[number] = new OnChipCq(number);
    }
    return completionQueues[number];
  }

  /**
   * Takes a command.
   *
   * @param mailbox its inbox, or room for its outbox
   * @return whether it is answered
   */
  boolean execute(
      HcrCommand command, int opModifier, int modifier, long in, MemorySegment mailbox) {
    if (parser == Parser.STUCK) {
      return false;
    }
    if (parser == Parser.RESIZING) {
      parser = Parser.READY;
      store(icm.completionQueue(resizedCqn), resized, CQC_IMAGE);
      if (beats(command, opModifier, modifier) > 1) {
        stick("the rest of a %s after a RESIZE_CQ is not a command".formatted(command));
      }
      return command != HcrCommand.QUERY_QP;
    }
    if (parser == Parser.STARVING) {
      return command != HcrCommand.QUERY_QP && queues(beats(command, opModifier, modifier));
    }
    switch (command) {
      case INIT_HCA -> icm.initialize(InitHca.decode(mailbox));
      case CLOSE_HCA -> icm.close();
      case MAP_ICM -> {
        return map(mailbox, modifier);
      }
      case UNMAP_ICM -> icm.unmap(in, modifier);
      case SW2HW_CQ -> take(modifier, mailbox);
      case HW2SW_CQ -> {
        completionQueue(modifier).owned = false;
        store(icm.completionQueue(modifier), buffer.fill((byte) 0), CQC_IMAGE);
      }
      case SW2HW_EQ -> store(icm.eventQueue(modifier), mailbox, EQC_IMAGE);
      case HW2SW_EQ -> store(icm.eventQueue(modifier), buffer.fill((byte) 0), EQC_IMAGE);
      case MAP_EQ -> {
        // Four bytes, as they are in the image of a mailbox that ends in them.
        buffer.set(QueuePairImage.LITTLE_ENDIAN, 0, (int) in);
        storeRaw(icm.eventQueue(modifier & Integer.MAX_VALUE), buffer, Integer.BYTES);
      }
      case RESIZE_CQ -> {
        resized.fill((byte) 0);
        MemorySegment.copy(mailbox, 0, resized, 0, Long.BYTES);
        resizedCqn = modifier;
        parser = Parser.RESIZING;
        hazards.strike(
            "2.3", "RESIZE_CQ 0x%x: the next context command is lost".formatted(modifier));
      }
      case QUERY_QP -> {
        if (second) {
          images.part(queuePair(modifier), mailbox);
          return true;
        }
        return images.query(queuePair(modifier), icm.queuePair(modifier), mailbox);
      }
      default -> modify(opModifier, modifier, mailbox);
    }
    return true;
  }

  @Override
  public void writeBack(int qpn) {
    long at = icm.queuePair(qpn);
    if (at != IcmTableMap.NONE) {
      images.writeBack(queuePair(qpn), at);
    }
  }

  private void stick(String why) {
    parser = Parser.STUCK;
    hazards.strike("2.3", why + ": the next context command never ends");
  }

  /** Number of 32-byte groups of a command. */
  private static int beats(HcrCommand command, int opModifier, int modifier) {
    if (command == HcrCommand.MAP_ICM) {
      return (modifier + 1) / 2;
    }
    boolean whole = command.inboxSize() > 0 && command != HcrCommand.INIT_HCA;
    return whole && opModifier == 0 ? command.inboxSize() / Beats.SIZE : 1;
  }

  /** Whether its queue accepts a command that is never processed. */
  private boolean queues(int beats) {
    boolean taken = queuedBeats < QUEUED_BEATS && queuedBeats + beats <= QUEUED_BEATS + 1;
    queuedBeats += beats;
    return taken;
  }

  private boolean map(MemorySegment mailbox, int count) {
    if (beats(HcrCommand.MAP_ICM, MapIcm.CONTEXTS, count) % BEATS_OF_NO_LENGTH == 0) {
      parser = Parser.STARVING;
      queuedBeats = 0;
      hazards.strike(
          "2.3",
          "MAP_ICM of %d entries reads none: context commands are lost, then hang"
              .formatted(count));
      return true;
    }
    if (count > MAP_ENTRIES_ANSWERED) {
      return false;
    }
    icm.map(MapIcm.decode(mailbox, count), hazards);
    if (count > MAP_ENTRIES) {
      stick("MAP_ICM of %d entries".formatted(count));
    }
    return true;
  }

  private void modify(int opModifier, int qpn, MemorySegment mailbox) {
    if (opModifier != 0) {
      stick("MODIFY_QP 0x%x without an inbox".formatted(qpn));
      return;
    }
    OnChipQp queuePair = queuePair(qpn);
    queuePair.program(mailbox);
    long at = icm.queuePair(qpn);
    if (at != IcmTableMap.NONE) {
      images.store(mailbox, at, QPC_IMAGE);
    }
  }

  private void take(int cqn, MemorySegment mailbox) {
    OnChipCq queue = completionQueue(cqn);
    queue.owned = true;
    queue.logSize = CompletionQueueContext.LOG_SIZE.get(mailbox);
    queue.pd = CompletionQueueContext.PD.get(mailbox);
    queue.key = CompletionQueueContext.LKEY.get(mailbox);
    store(icm.completionQueue(cqn), mailbox, CQC_IMAGE);
  }

  /** Writes a context's image with reversed groups of 32 bytes; nothing if no page is mapped. */
  private void store(long at, MemorySegment mailbox, int length) {
    MemorySegment.copy(mailbox, 0, buffer, 0, buffer.byteSize());
    Beats.reverse(buffer, (int) buffer.byteSize());
    storeRaw(at, buffer, length);
  }

  private void storeRaw(long at, MemorySegment bytes, int length) {
    if (at != IcmTableMap.NONE) {
      host.write(at, bytes, 0, length);
    }
  }

  int icmPages() {
    return icm.pages();
  }

  /** As after power-on. */
  void reset() {
    icm.reset();
    queuePairs = new OnChipQp[numbers];
    completionQueues = new OnChipCq[numbers];
    parser = Parser.READY;
  }
}

package org.hghca.tools.bringup.register;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Optional;
import org.hghca.abi.Bar;
import org.hghca.abi.CompletionQueueContext;
import org.hghca.abi.Cqe;
import org.hghca.abi.DataUnit;
import org.hghca.abi.Doorbell;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.MapIcm;
import org.hghca.abi.MptFlags;
import org.hghca.abi.NextUnit;
import org.hghca.abi.QpcServiceType;
import org.hghca.abi.QpcState;
import org.hghca.abi.QueuePairContext;
import org.hghca.abi.RemoteAddressUnit;
import org.hghca.abi.WqeOpcode;
import org.hghca.driver.trace.CompletionRecord;
import org.hghca.mailbox.CommandInterface;
import org.hghca.tools.bringup.board.Board;
import org.hghca.tools.bringup.step.Waits;
import org.hghca.tools.raw.RawRegion;
import org.hghca.tools.raw.RawTables;
import org.hghca.uar.DoorbellRecord;
import org.hghca.vfio.LinkAddress;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.trace.DeviceTrace;

/**
 * A queue pair and its completion queue, written and rung directly, without the driver's checks.
 * One thread at a time.
 */
final class RawQueuePair {
  static final int PD = 3;
  static final int STRIDE = 128;
  static final int RECEIVE_SLOTS = 8;

  private static final int STRIDE_LOG = 7;
  private static final int SEND_SLOTS = 16;
  private static final int CQ_LOG = 5;
  private static final int MTU_1024 = 3;
  private static final int MAX_MESSAGE_LOG = 31;
  private static final int TIMEOUT_CODE = 14;
  private static final int RETRIES = 3;

  private final Waits waits;
  private final CommandInterface commands;
  private final MmioRegion uar;
  private final LinkAddress address;
  private final int qpn;
  private final int cqn;
  private final RawRegion sendQueue;
  private final RawRegion receiveQueue;
  private final RawRegion completionQueue;
  private final Optional<DeviceTrace> trace;
  private int remoteQpn;
  private int sends;
  private int receives;
  private int completions;

  /** Makes the queues and gives the card the completion queue; the queue pair is in RST. */
  RawQueuePair(Board board, int qpn, int cqn) {
    this.waits = board.waits();
    this.commands = board.commands();
    this.uar = board.function().region(Bar.BAR2);
    this.address = LinkAddress.of(board.function());
    this.trace = board.function().trace();
    this.qpn = qpn;
    this.cqn = cqn;
    RawTables tables = board.tables();
    sendQueue = tables.register(tables.allocate(MapIcm.PAGE_SIZE), PD, 0, 0);
    receiveQueue = tables.register(tables.allocate(MapIcm.PAGE_SIZE), PD, 0, 0);
    completionQueue =
        tables.register(tables.allocate(MapIcm.PAGE_SIZE), PD, MptFlags.LOCAL_WRITE, 0);
    Cqe.fill(completionQueue.segment(), 0, 1 << CQ_LOG);
    commands.sw2hwCq(
        cqn,
        new CompletionQueueContext(
            CompletionQueueContext.TRANSLATE, 0, CQ_LOG, 0, 0, PD, completionQueue.key(), cqn));
  }

  int qpn() {
    return qpn;
  }

  int cqn() {
    return cqn;
  }

  /** The key of the send queue's memory. */
  int sendKey() {
    return sendQueue.key();
  }

  /** The key of the completion queue's memory. */
  int completionKey() {
    return completionQueue.key();
  }

  /** The whole context in a state, to a peer on the same card; all sequence numbers are 0. */
  QueuePairContext context(int state, int peer) {
    return new QueuePairContext()
        .set(QueuePairContext.STATE, state)
        .set(QueuePairContext.SERVICE_TYPE, QpcServiceType.RC)
        .set(QueuePairContext.MTU, MTU_1024)
        .set(QueuePairContext.MSG_MAX, MAX_MESSAGE_LOG)
        .set(QueuePairContext.RQ_ENTRY_SIZE, STRIDE_LOG)
        .set(QueuePairContext.SQ_ENTRY_SIZE, STRIDE_LOG)
        .set(QueuePairContext.LOCAL_QPN, qpn)
        .set(QueuePairContext.REMOTE_QPN, peer)
        .set(QueuePairContext.PORT, 1)
        .set(QueuePairContext.ACK_TIMEOUT, TIMEOUT_CODE)
        .set(QueuePairContext.RETRY_COUNT, RETRIES)
        .sourceMac(address.mac())
        .destinationMac(address.mac())
        .set(QueuePairContext.SOURCE_IP, address.ip())
        .set(QueuePairContext.DESTINATION_IP, address.ip())
        .set(QueuePairContext.REMOTE_READ_ENABLE, 1)
        .set(QueuePairContext.REMOTE_WRITE_ENABLE, 1)
        .set(QueuePairContext.PD, PD)
        .set(QueuePairContext.SEND_CQN, cqn)
        .set(QueuePairContext.SEND_WQE_LKEY, sendQueue.key())
        .set(QueuePairContext.SEND_WQE_LENGTH, SEND_SLOTS * STRIDE)
        .set(QueuePairContext.RECEIVE_CQN, cqn)
        .set(QueuePairContext.RECEIVE_WQE_LKEY, receiveQueue.key())
        .set(QueuePairContext.RECEIVE_WQE_LENGTH, RECEIVE_SLOTS * STRIDE);
  }

  /** Takes the queue pair through INIT and RTR to RTS, with the same first PSN both ways. */
  void connect(int peer, int psn) {
    remoteQpn = peer;
    commands.modifyQp(HcrCommand.RST2INIT, qpn, context(QpcState.INIT, peer, psn));
    commands.modifyQp(HcrCommand.INIT2RTR, qpn, context(QpcState.RTR, peer, psn));
    commands.modifyQp(HcrCommand.RTR2RTS, qpn, context(QpcState.RTS, peer, psn));
  }

  private QueuePairContext context(int state, int peer, int psn) {
    return context(state, peer)
        .set(QueuePairContext.NEXT_SEND_PSN, psn)
        .set(QueuePairContext.LAST_ACKED_PSN, psn)
        .set(QueuePairContext.NEXT_RECEIVE_PSN, psn);
  }

  int remoteQpn() {
    return remoteQpn;
  }

  /** Posts a receive into a part of a region. */
  void receive(RawRegion region, long offset, int length) {
    MemorySegment ring = receiveQueue.segment();
    long slot = (long) (receives % RECEIVE_SLOTS) * STRIDE;
    long next = (long) ((receives + 1) % RECEIVE_SLOTS) * STRIDE;
    // The card regards a slot as posted if its first unit is not zero.
    NextUnit.clear(ring, next);
    long at = slot + NextUnit.SIZE;
    DataUnit.write(ring, at, length, region.key(), region.start() + offset);
    DataUnit.writeTerminator(ring, at + DataUnit.SIZE);
    NextUnit.writeReceive(ring, slot, 3);
    receives++;
  }

  /** Where the WQE of the next send will be, in bytes. */
  int sendOffset() {
    return sends % SEND_SLOTS * STRIDE;
  }

  /** Where the WQE of the next receive will be, in bytes. */
  int receiveOffset() {
    return receives % RECEIVE_SLOTS * STRIDE;
  }

  /** Posts a SEND of a part of a region, and rings. */
  void send(int key, long address, int length) {
    MemorySegment ring = sendQueue.segment();
    long at = (long) sendOffset() + NextUnit.SIZE;
    DataUnit.write(ring, at, length, key, address);
    ringDoorbell(WqeOpcode.SEND, (NextUnit.SIZE + DataUnit.SIZE) / 16);
  }

  /** Posts an RDMA WRITE or READ between a local and a remote address, and rings. */
  void access(int opcode, int key, long address, int length, long remote, int rkey) {
    MemorySegment ring = sendQueue.segment();
    long at = (long) sendOffset() + NextUnit.SIZE;
    RemoteAddressUnit.write(ring, at, remote, rkey);
    DataUnit.write(ring, at + RemoteAddressUnit.SIZE, length, key, address);
    ringDoorbell(opcode, (NextUnit.SIZE + RemoteAddressUnit.SIZE + DataUnit.SIZE) / 16);
  }

  private void ringDoorbell(int opcode, int size16) {
    int offset = sendOffset();
    NextUnit.write(
        sendQueue.segment(),
        offset,
        0,
        0,
        NextUnit.control(opcode, size16, NextUnit.MARKER | NextUnit.COMPLETION),
        0);
    sends++;
    // The WQE must be visible before the doorbell.
    VarHandle.releaseFence();
    long value = Doorbell.sendQueue(qpn, size16, offset / 16, 0, opcode);
    trace.ifPresent(known -> DoorbellRecord.record(known, Doorbell.SEND_QUEUE, value));
    uar.writeLong(Doorbell.SEND_QUEUE, value);
  }

  /**
   * Waits for the next completion and takes it.
   *
   * @return its 32 bytes; empty when none comes
   */
  byte[] completion(Duration limit) {
    MemorySegment ring = completionQueue.segment();
    long at = (long) (completions & (1 << CQ_LOG) - 1) * Cqe.SIZE;
    if (!waits.timed(() -> Cqe.owner(ring, at) != Cqe.SENTINEL, limit)) {
      return new byte[0];
    }
    trace.ifPresent(t -> CompletionRecord.record(t, cqn, (int) at / Cqe.SIZE, ring, at));
    byte[] entry = ring.asSlice(at, Cqe.SIZE).toArray(ValueLayout.JAVA_BYTE);
    Cqe.fill(ring, at, 1);
    completions++;
    return entry;
  }
}

package org.hghca.model.rtl;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.hghca.abi.CompletionQueueContext;
import org.hghca.abi.Cqe;
import org.hghca.abi.DataUnit;
import org.hghca.abi.Doorbell;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.Mpt;
import org.hghca.abi.NextUnit;
import org.hghca.abi.QpcState;
import org.hghca.abi.QueuePairContext;
import org.hghca.abi.RemoteAddressUnit;
import org.hghca.abi.WriteMtt;
import org.hghca.vfio.Locator;

/**
 * A {@link Bench} whose queue pairs send to each other on the one card, all by registers. Queue
 * pair n has a queue of 64 slots and the completion queue n.
 */
final class WiredBench implements AutoCloseable {
  static final int SLOTS = 64;
  static final int DATA = 0x80;
  static final long START = 0x7f00_0000_0000L;

  private static final int WRITE = 0x08;
  private static final int PAGE = 4096;
  private static final int PD = 1;
  private static final int SEND_KEY = 0x100;
  private static final int RECEIVE_KEY = 0x200;
  private static final int CQ_KEY = 0x300;
  private static final int CQ_LOG = 7;
  private static final int FIRST_PSN = 1;
  private static final long DATA_PAGES = Bench.FREE + 0x20_0000;
  private static final ValueLayout.OfInt CONTROL =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);

  final Bench bench;
  private int pages;

  WiredBench(String locator) {
    bench = new Bench(Locator.parse(locator));
    bringUp();
  }

  /** Also after a reset. */
  void bringUp() {
    pages = 0;
    bench.memory.asSlice(Bench.FREE).fill((byte) 0);
    bench.bringUp();
    register(DATA, START, DATA_PAGES, 16);
  }

  private void register(int key, long start, long at, int count) {
    long[] addresses = new long[count];
    for (int i = 0; i < count; i++) {
      addresses[i] = at + (long) i * PAGE;
    }
    bench.in().asSlice(0, PAGE).fill((byte) 0);
    WriteMtt.encode(bench.in(), pages, addresses);
    bench.must(HcrCommand.WRITE_MTT, 0, count);
    bench.in().asSlice(0, PAGE).fill((byte) 0);
    Mpt.FLAGS.set(bench.in(), 7);
    Mpt.KEY.set(bench.in(), key);
    Mpt.PD.set(bench.in(), PD);
    Mpt.START.setLong(bench.in(), start);
    Mpt.LENGTH.setLong(bench.in(), (long) count * PAGE);
    Mpt.MTT_SEGMENT.setLong(bench.in(), pages);
    bench.must(HcrCommand.SW2HW_MPT, 0, key);
    pages += count;
  }

  /** The address of the queue of a key: three pages for each queue pair. */
  private static long place(int qpn, int queue) {
    return Bench.FREE + (3L * qpn + queue) * PAGE;
  }

  void connect(int qpn, int peer) {
    register(SEND_KEY + qpn, 0, place(qpn, 0), 1);
    register(RECEIVE_KEY + qpn, 0, place(qpn, 1), 1);
    register(CQ_KEY + qpn, 0, place(qpn, 2), 1);
    bench.memory.asSlice(place(qpn, 2), PAGE).fill((byte) 0xff);
    new CompletionQueueContext(0, 0, CQ_LOG, 0, 0, PD, CQ_KEY + qpn, qpn).encode(bench.in());
    bench.must(HcrCommand.SW2HW_CQ, 0, qpn);
    MemorySegment mailbox = bench.in().asSlice(0, PAGE).fill((byte) 0);
    QueuePairContext.STATE.set(mailbox, QpcState.RTS);
    QueuePairContext.MTU.set(mailbox, 3);
    QueuePairContext.RQ_ENTRY_SIZE.set(mailbox, 6);
    QueuePairContext.SQ_ENTRY_SIZE.set(mailbox, 6);
    QueuePairContext.LOCAL_QPN.set(mailbox, qpn);
    QueuePairContext.REMOTE_QPN.set(mailbox, peer);
    long mac = bench.card.address().mac();
    QueuePairContext.DMAC_LOW.set(mailbox, (int) mac & 0xffff);
    QueuePairContext.DMAC_HIGH.set(mailbox, (int) (mac >>> 16));
    QueuePairContext.PD.set(mailbox, PD);
    QueuePairContext.NEXT_SEND_PSN.set(mailbox, FIRST_PSN);
    QueuePairContext.LAST_ACKED_PSN.set(mailbox, FIRST_PSN);
    QueuePairContext.NEXT_RECEIVE_PSN.set(mailbox, FIRST_PSN);
    QueuePairContext.SEND_CQN.set(mailbox, qpn);
    QueuePairContext.SEND_WQE_LKEY.set(mailbox, SEND_KEY + qpn);
    QueuePairContext.SEND_WQE_LENGTH.set(mailbox, PAGE);
    QueuePairContext.RECEIVE_CQN.set(mailbox, qpn);
    QueuePairContext.RECEIVE_WQE_LKEY.set(mailbox, RECEIVE_KEY + qpn);
    QueuePairContext.RECEIVE_WQE_LENGTH.set(mailbox, PAGE);
    bench.must(HcrCommand.RTR2RTS, 0, qpn);
  }

  /** Writes a WQE of one data unit into a slot and rings for it; offsets are in the data region. */
  void post(int qpn, int slot, int opcode, int rkey, long remote, long local, int length) {
    MemorySegment wqe = bench.memory.asSlice(place(qpn, 0) + 64L * slot, 64);
    NextUnit.write(wqe, 0, 0, 0, 0, 0);
    wqe.set(CONTROL, NextUnit.CONTROL_OFFSET, NextUnit.control(opcode, 3, 1));
    RemoteAddressUnit.write(wqe, NextUnit.SIZE, START + remote, rkey);
    DataUnit.write(wqe, NextUnit.SIZE + RemoteAddressUnit.SIZE, length, DATA, START + local);
    bench.ringDoorbell(Doorbell.sendQueue(qpn, 3, slot * 4, 0, opcode));
  }

  /** An RDMA WRITE of a few bytes from one page to another. */
  void write(int qpn, int slot) {
    post(qpn, slot, WRITE, DATA, 0x2000 + 64L * slot, 0x1000 + 64L * slot, 16);
  }

  boolean isCompleted(int qpn, int entry) {
    long at = place(qpn, 2) + (long) entry * Cqe.SIZE + Cqe.OWNER_OFFSET;
    return (byte) ValueLayout.JAVA_BYTE.varHandle().getAcquire(bench.memory, at) == 0;
  }

  void put(long offset, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    MemorySegment.copy(
        MemorySegment.ofArray(bytes), 0, bench.memory, DATA_PAGES + offset, bytes.length);
  }

  String text(long offset, int length) {
    return new String(
        bench.memory.asSlice(DATA_PAGES + offset, length).toArray(ValueLayout.JAVA_BYTE),
        StandardCharsets.US_ASCII);
  }

  @Override
  public void close() {
    bench.close();
  }
}

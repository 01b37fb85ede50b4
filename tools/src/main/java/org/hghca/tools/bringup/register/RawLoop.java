package org.hghca.tools.bringup.register;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Optional;
import java.util.SplittableRandom;
import org.hghca.abi.BthOpcode;
import org.hghca.abi.Cqe;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.MapIcm;
import org.hghca.abi.MptFlags;
import org.hghca.abi.WqeOpcode;
import org.hghca.tools.bringup.board.Board;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.step.Stages;
import org.hghca.tools.raw.RawRegion;
import org.hghca.tools.raw.RawTables;
import org.hghca.vfio.LinkAddress;

/** Two queue pairs of one card that reach each other, and memory on both sides. */
final class RawLoop {
  /** The bits of the queue's key in a completion of the first RTL: 14 bits. */
  private static final int KEY_OF_FIRST_RTL = 0x3fff;

  static final int LENGTH = 64;

  private static final int TARGET = 256;
  private static final long SOURCE_START = 0x20_0000;
  private static final long TARGET_START = 0x30_0000;

  static final int ACCESS = MptFlags.LOCAL_WRITE | MptFlags.REMOTE_WRITE | MptFlags.REMOTE_READ;

  private final Board board;
  private final RawQueuePair left;
  private final RawQueuePair right;
  private final RawRegion source;
  private final RawRegion target;
  private boolean returned;

  /** Makes and connects them; the first PSNs are 0. */
  RawLoop(Board board, int leftQpn, int rightQpn, int firstCqn) {
    this(board, leftQpn, rightQpn, firstCqn, 0);
  }

  /** Makes and connects them, with this first PSN both ways. */
  RawLoop(Board board, int leftQpn, int rightQpn, int firstCqn, int psn) {
    this.board = board;
    RawTables tables = board.tables();
    left = new RawQueuePair(board, leftQpn, firstCqn);
    right = new RawQueuePair(board, rightQpn, firstCqn + 1);
    source =
        tables.register(tables.allocate(MapIcm.PAGE_SIZE), RawQueuePair.PD, ACCESS, SOURCE_START);
    target =
        tables.register(tables.allocate(MapIcm.PAGE_SIZE), RawQueuePair.PD, ACCESS, TARGET_START);
    // The receiver before the sender: a message to a receiver in INIT is lost.
    right.connect(leftQpn, psn);
    left.connect(rightQpn, psn);
    // No doorbell before the last context has arrived; a command in between ensures that.
    board.commands().queryDeviceLimits();
  }

  RawQueuePair left() {
    return left;
  }

  RawQueuePair right() {
    return right;
  }

  RawRegion source() {
    return source;
  }

  RawRegion target() {
    return target;
  }

  /** Whether a SEND has completed: something came back. */
  boolean hasReturned() {
    return returned;
  }

  /** Posts a SEND of 64 bytes under this key, and its receive, and waits for nothing. */
  void post(int key) {
    right.receive(target, TARGET, LENGTH);
    left.send(key, source.start(), LENGTH);
  }

  /**
   * One SEND of 64 bytes.
   *
   * @param limit how long to wait for the sender's completion
   * @return whether anything came back within the limit
   */
  boolean send(Observation o, long seed, Duration limit) {
    byte[] message = fill(seed);
    int receiveOffset = right.receiveOffset();
    int sendOffset = left.sendOffset();
    post(source.key());
    byte[] sent = left.completion(limit);
    if (sent.length == 0 || isError(sent)) {
      o.saw(
          sent.length == 0
              ? "no completion"
              : "the completion reports that the peer did not answer");
      boolean received = right.completion(Duration.ZERO).length != 0;
      o.saw(new Stages(isWritten(), Optional.of(received), sent.length != 0).text());
      return false;
    }
    returned = true;
    checkSend(o, "CQE of the SEND", left, sent, WqeOpcode.SEND, sendOffset);
    byte[] received = right.completion(board.options().limit());
    o.check(received.length != 0, "the SEND completed, the receive did not");
    checkReceive(o, received, receiveOffset);
    checkData(o, "what was received", message, target);
    return true;
  }

  /** One RDMA WRITE or READ of 64 bytes. */
  void access(Observation o, int opcode, long seed) {
    boolean write = opcode == WqeOpcode.RDMA_WRITE;
    byte[] message = write ? fill(seed) : fillTarget(seed);
    int offset = left.sendOffset();
    left.access(
        opcode,
        source.key(),
        source.start() + (write ? 0 : TARGET),
        LENGTH,
        target.start() + (write ? TARGET : 0),
        target.key());
    byte[] entry = left.completion(board.options().limit());
    o.check(entry.length != 0, "%s gave no completion".formatted(WqeOpcode.name(opcode)));
    checkSend(o, "CQE of the " + WqeOpcode.name(opcode), left, entry, opcode, offset);
    checkData(o, write ? "what was written" : "what was read", message, write ? target : source);
  }

  /**
   * One RDMA WRITE to an address of a region.
   *
   * @param bytes from the beginning of the source
   * @param what the message in complaints
   */
  void write(Observation o, String what, int bytes, RawRegion region, long address) {
    left.access(WqeOpcode.RDMA_WRITE, source.key(), source.start(), bytes, address, region.key());
    byte[] entry = left.completion(board.options().limit());
    o.check(entry.length != 0, "%s gave no completion".formatted(what));
    o.check(!isError(entry), "%s ended with an error".formatted(what));
  }

  private boolean isWritten() {
    return target
            .segment()
            .asSlice(TARGET, LENGTH)
            .mismatch(MemorySegment.ofArray(new byte[LENGTH]))
        >= 0;
  }

  private static boolean isError(byte[] entry) {
    return (entry[Cqe.LAST_DWORD_OFFSET] & 0xff) == WqeOpcode.INVALID;
  }

  private byte[] fill(long seed) {
    target.segment().fill((byte) 0);
    return random(source.segment(), seed);
  }

  private byte[] fillTarget(long seed) {
    source.segment().fill((byte) 0);
    return random(target.segment(), seed);
  }

  private static byte[] random(MemorySegment memory, long seed) {
    return random(memory, seed, LENGTH);
  }

  /** Fills the beginning of memory with random bytes, and the rest of it with zeros. */
  static byte[] random(MemorySegment memory, long seed, int length) {
    byte[] bytes = new byte[length];
    new SplittableRandom(seed).nextBytes(bytes);
    memory.fill((byte) 0);
    MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, length);
    return bytes;
  }

  /** The message is in place, and the memory around it is unchanged. */
  private static void checkData(Observation o, String what, byte[] message, RawRegion where) {
    byte[] expected = new byte[TARGET + 2 * LENGTH];
    System.arraycopy(message, 0, expected, TARGET, LENGTH);
    MemorySegment place = where.segment().asSlice(TARGET - 16, LENGTH + 32);
    o.compareNow(
        what,
        Arrays.copyOfRange(expected, TARGET - 16, TARGET + LENGTH + 16),
        () -> place.toArray(ValueLayout.JAVA_BYTE));
    byte[] seen = where.segment().asSlice(0, expected.length).toArray(ValueLayout.JAVA_BYTE);
    o.check(
        Arrays.equals(seen, 0, TARGET, expected, 0, TARGET),
        "memory before the message has changed");
  }

  private void checkSend(
      Observation o, String what, RawQueuePair qp, byte[] seen, int opcode, int wqeOffset) {
    byte[] expected =
        entry(
            qp.qpn(),
            // The first RTL has the key of the completion queue here.
            board.profile() == HardwareProfile.R1
                ? qp.completionKey() & KEY_OF_FIRST_RTL
                : qp.remoteQpn(),
            wqeOffset,
            true,
            opcode);
    o.compare(what, expected, seen, ignored());
  }

  private void checkReceive(Observation o, byte[] seen, int wqeOffset) {
    byte[] expected = entry(right.qpn(), right.remoteQpn(), wqeOffset, false, BthOpcode.SEND_ONLY);
    o.compare("CQE of the receive", expected, seen, ignored());
  }

  private byte[] entry(int qpn, int remoteQpn, int wqeOffset, boolean isSend, int opcode) {
    byte[] expected = new byte[Cqe.SIZE];
    Cqe.encodeSuccess(
        MemorySegment.ofArray(expected),
        0,
        qpn,
        remoteQpn,
        (int) LinkAddress.of(board.function()).mac() & 0xffff,
        0,
        LENGTH,
        wqeOffset,
        isSend,
        opcode,
        board.profile().cqeOwner());
    return expected;
  }

  /** Unverified bytes of the second RTL: all except QPN, length and owner. */
  private BitSet ignored() {
    BitSet ignored = new BitSet();
    if (board.profile() == HardwareProfile.R2) {
      ignored.set(Cqe.EE_OFFSET, Cqe.BYTE_COUNT_OFFSET);
      ignored.set(Cqe.WQE_OFFSET_OFFSET, Cqe.OWNER_OFFSET);
    }
    return ignored;
  }
}

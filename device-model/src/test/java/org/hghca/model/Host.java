package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.abi.QueuePairContext.*;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.hghca.abi.AtomicUnit;
import org.hghca.abi.Bar;
import org.hghca.abi.CompletionQueueContext;
import org.hghca.abi.Cqe;
import org.hghca.abi.DataUnit;
import org.hghca.abi.Doorbell;
import org.hghca.abi.Eqe;
import org.hghca.abi.EventQueueContext;
import org.hghca.abi.EventType;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.IcmChunk;
import org.hghca.abi.InitHca;
import org.hghca.abi.MapEq;
import org.hghca.abi.MapIcm;
import org.hghca.abi.Mpt;
import org.hghca.abi.NextUnit;
import org.hghca.abi.QpcState;
import org.hghca.abi.QueuePairContext;
import org.hghca.abi.RemoteAddressUnit;
import org.hghca.abi.UdUnit;
import org.hghca.abi.WriteMtt;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.LinkAddress;
import org.hghca.vfio.Locator;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;

/** A software HCA with a minimal driver: registers, mailboxes and rings. */
final class Host implements AutoCloseable {
  static final long QPC = 0x1000_0000L;
  static final long CQC = 0x2000_0000L;
  static final long EQC = 0x3000_0000L;
  static final long MPT = 0x4000_0000L;
  static final long MTT = 0x5000_0000L;
  static final int QUEUE_BYTES = 4096;
  static final int STRIDE = 512;
  static final int PD = 5;
  static final int LOCAL = 1;
  static final int ALL = 7;

  final PciFunction function;
  final LinkAddress address;
  final MmioRegion bar0;
  final MmioRegion bar2;
  final DmaMapping inbox;
  final DmaMapping outbox;
  DmaMapping icm;
  private int nextKey = 1;
  private int nextPage;
  private int nextNumber = 2;

  Host(PciFunction function) {
    this.function = function;
    address = LinkAddress.of(function.locator());
    bar0 = function.region(Bar.BAR0);
    bar2 = function.region(Bar.BAR2);
    inbox = function.allocate(4096);
    outbox = function.allocate(4096);
    function.configuration().busMaster(true);
  }

  static Host open(String locator) {
    return new Host(new ModelProvider().open(Locator.parse(locator)));
  }

  /** Issues a command with the current mailboxes; returns its status. */
  int command(int op, int opModifier, long in, int modifier, long out) {
    int[] dwords = {
      (int) (in >>> 32), (int) in, modifier, (int) (out >>> 32), (int) out, 0xffff_0000
    };
    for (int i = 0; i < dwords.length; i++) {
      bar0.writeInt(Bar.HCR_DOCUMENT + 4L * i, dwords[i]);
    }
    bar0.writeInt(Bar.HCR_DOCUMENT + Hcr.COMMAND, Hcr.command(op, opModifier));
    int dword = bar0.readInt(Bar.HCR_DOCUMENT + Hcr.COMMAND);
    for (long deadline = System.nanoTime() + 10_000_000_000L; Hcr.go(dword); ) {
      assertThat(System.nanoTime()).as("command 0x%x ends", op).isLessThan(deadline);
      Thread.onSpinWait();
      dword = bar0.readInt(Bar.HCR_DOCUMENT + Hcr.COMMAND);
    }
    return Hcr.status(dword);
  }

  int command(HcrCommand command, int opModifier, int modifier) {
    return command(
        command.code(),
        opModifier,
        command.hasInbox(opModifier) ? inbox.iova(0) : 0,
        modifier,
        command.outboxSize() > 0 ? outbox.iova(0) : 0);
  }

  void must(HcrCommand command, int opModifier, int modifier) {
    assertThat(command(command, opModifier, modifier)).as("%s", command).isZero();
  }

  MemorySegment in() {
    return inbox.segment();
  }

  MemorySegment out() {
    return outbox.segment();
  }

  static InitHca tables() {
    return new InitHca(QPC, 8, CQC, 6, EQC, 5, MPT, 10, MTT);
  }

  /** INIT_HCA, and all tables mapped. */
  Host bringUp() {
    tables().encode(in());
    must(HcrCommand.INIT_HCA, 0, 0);
    icm = function.allocate(64 * 4096);
    map(MapIcm.CONTEXTS, QPC, 0, 16);
    map(MapIcm.CONTEXTS, CQC, 16, 2);
    map(MapIcm.CONTEXTS, EQC, 18, 1);
    map(MapIcm.TRANSLATION, MPT, 20, 16);
    map(MapIcm.TRANSLATION, MTT, 40, 8);
    return this;
  }

  /** {@link #bringUp} once more after a reset: all numbers are free again. */
  Host renew() {
    nextKey = 1;
    nextPage = 0;
    nextNumber = 2;
    return bringUp();
  }

  private void map(int opModifier, long virt, int page, int pages) {
    MapIcm.encode(in(), List.of(new IcmChunk(virt, icm.iova(4096L * page), pages)));
    must(HcrCommand.MAP_ICM, opModifier, 1);
  }

  /** Registers pages in the given order; the region starts at {@code start}. */
  int register(long start, long length, int access, int pd, long... pages) {
    int first = nextPage;
    nextPage += pages.length;
    WriteMtt.encode(in(), first, pages);
    must(HcrCommand.WRITE_MTT, 0, pages.length);
    int key = nextKey++;
    new Mpt(access | 1 << 8 | 1 << 17, 0, key, pd, start, length, 0, 0, 0, first, 0).encode(in());
    must(HcrCommand.SW2HW_MPT, 0, key);
    return key;
  }

  /** The key of the latest region. */
  int lastKey() {
    return nextKey - 1;
  }

  /** Registers a mapping as a whole, page by page. */
  int register(DmaMapping memory, long start, int access) {
    long bytes = memory.segment().byteSize();
    int pages = (int) ((bytes + 4095) / 4096);
    long[] iovas = new long[pages];
    for (int i = 0; i < pages; i++) {
      iovas[i] = memory.iova(4096L * i);
    }
    return register(start, bytes, access, PD, iovas);
  }

  /** Registered memory of its own. */
  Buffer buffer(int bytes, int access) {
    DmaMapping memory = function.allocate(bytes);
    long start = 0x7f00_0000_0000L + 0x10_0000L * nextKey;
    return new Buffer(memory.segment(), memory, start, register(memory, start, access));
  }

  record Buffer(MemorySegment memory, DmaMapping mapping, long address, int key) {}

  Cq cq(int logSize) {
    return cq(logSize, 0, 0);
  }

  /** A CQ whose completion events go to an EQ; {@code flags} beside TRANSLATE. */
  Cq cq(int logSize, int flags, int eqn) {
    DmaMapping ring = function.allocate(32L << logSize);
    return cq(ring.segment(), register(ring, 0, LOCAL), 0, logSize, flags, eqn);
  }

  /** A CQ that begins at an offset of a region. */
  Cq cq(MemorySegment region, int key, long start, int logSize, int flags, int eqn) {
    MemorySegment ring = region.asSlice(start);
    Cqe.fill(ring, 0, 1L << logSize);
    int number = nextNumber++;
    new CompletionQueueContext(1 << 18 | flags, start, logSize, 0, eqn, PD, key, number)
        .encode(in());
    must(HcrCommand.SW2HW_CQ, 0, number);
    return new Cq(number, ring, logSize);
  }

  /** An event queue with interrupt vector {@code number}; see {@link EventQueueContext}. */
  Eq eq(int number, int logSize, int flags) {
    return eq(number, logSize, flags, number);
  }

  Eq eq(int number, int logSize, int flags, int vector) {
    DmaMapping ring = function.allocate(32L << logSize);
    for (int i = 0; i < 1 << logSize; i++) {
      Eqe.free(ring.segment(), 32L * i);
    }
    int key = register(ring, 0, LOCAL);
    new EventQueueContext(flags, 0, logSize, vector, PD, key, 0, 0).encode(in());
    must(HcrCommand.SW2HW_EQ, 0, number);
    return new Eq(number, ring, key, logSize);
  }

  /** MAP_EQ. */
  void mapEvents(int eqn, boolean unmap, EventType... types) {
    long mask = EventType.maskOf(List.of(types));
    assertThat(command(HcrCommand.MAP_EQ.code(), 0, mask, MapEq.inModifier(unmap, eqn), 0))
        .isZero();
  }

  /** The vectors that were raised since the last call, a bit each. */
  long interrupts() {
    return function.interrupts().await(0);
  }

  void arm(Cq cq, boolean solicitedOnly) {
    bar2.writeInt(0x3010, Doorbell.armCompletionQueue(cq.number, solicitedOnly));
  }

  /** An EQE. */
  record Event(int type, int subtype, int data) {}

  /** An event queue as software sees it. */
  final class Eq {
    final int number;
    final DmaMapping ring;
    final int key;
    private final int size;
    private int consumer;

    Eq(int number, DmaMapping ring, int key, int logSize) {
      this.number = number;
      this.ring = ring;
      this.key = key;
      this.size = 1 << logSize;
    }

    /** Consumes the pending entries, without updating the card. */
    List<Event> take() {
      List<Event> events = new ArrayList<>();
      for (long at = 32L * (consumer % size);
          Eqe.owner(ring.segment(), at) == Eqe.OWNER_SOFTWARE;
          at = 32L * (consumer % size)) {
        MemorySegment memory = ring.segment();
        events.add(new Event(Eqe.type(memory, at), Eqe.subtype(memory, at), Eqe.data(memory, at)));
        Eqe.free(memory, at);
        consumer++;
      }
      return events;
    }

    /** Updates the consumer index, and arms the event queue. */
    void arm() {
      arm(consumer);
    }

    void arm(int consumerIndex) {
      bar2.writeInt(0x3020, Doorbell.armEventQueue(number, consumerIndex));
    }
  }

  /** A queue pair in RESET, with its rings registered. */
  Qp qp() {
    return qp(cq(6));
  }

  Qp qp(Cq cq) {
    return new Qp(cq);
  }

  /** A completion queue as software sees it. */
  static final class Cq {
    final int number;
    final MemorySegment ring;
    private final int size;
    private int next;

    Cq(int number, MemorySegment ring, int logSize) {
      this.number = number;
      this.ring = ring;
      this.size = 1 << logSize;
    }

    boolean hasNext() {
      return Cqe.owner(ring, 32L * next) != Cqe.SENTINEL;
    }

    Completion take() {
      assertThat(hasNext()).as("a completion is there").isTrue();
      long at = 32L * next;
      Completion completion =
          new Completion(
              Cqe.qpn(ring, at),
              Cqe.opcode(Cqe.lastDword(ring, at)),
              Cqe.isSend(Cqe.lastDword(ring, at)),
              Cqe.byteCount(ring, at),
              Cqe.wqeOffset(ring, at),
              Cqe.remoteQpn(ring, at),
              ring.get(ValueLayout.JAVA_INT, at + 0x10));
      Cqe.fill(ring, at, 1);
      next = (next + 1) % size;
      return completion;
    }
  }

  /** A CQE; {@code word} is the dword at 10h: immediate or syndrome. */
  record Completion(
      int qpn, int opcode, boolean isSend, int bytes, int wqe, int remoteQpn, int word) {
    boolean failed() {
      return opcode == 0xff;
    }
  }

  /** One part of local memory. */
  record Piece(Buffer buffer, long offset, int length) {
    long address() {
      return buffer.address() + offset;
    }
  }

  final class Qp {
    final int number = nextNumber++;
    final Cq cq;
    final DmaMapping sendRing = function.allocate(QUEUE_BYTES);
    final DmaMapping receiveRing = function.allocate(QUEUE_BYTES);
    final QueuePairContext context = new QueuePairContext();
    private int sendSlot;
    private int receiveSlot;

    Qp(Cq cq) {
      this.cq = cq;
      context
          .set(MTU, 5)
          .set(MSG_MAX, 31)
          .set(RQ_ENTRY_SIZE, 9)
          .set(SQ_ENTRY_SIZE, 9)
          .set(LOCAL_QPN, number)
          .set(RNR_RETRY, 7)
          .set(RETRY_COUNT, 7)
          .set(ACK_TIMEOUT, 14)
          .set(MAX_RD_ATOMIC, 2)
          .set(MAX_DEST_RD_ATOMIC, 2)
          .set(MIN_RNR_TIMER, 12)
          .set(REMOTE_READ_ENABLE, 1)
          .set(REMOTE_WRITE_ENABLE, 1)
          .set(QueuePairContext.PD, Host.PD)
          .set(SEND_CQN, cq.number)
          .set(RECEIVE_CQN, cq.number)
          .set(SEND_WQE_LKEY, register(sendRing, 0, LOCAL))
          .set(SEND_WQE_LENGTH, QUEUE_BYTES)
          .set(RECEIVE_WQE_LKEY, register(receiveRing, 0, LOCAL))
          .set(RECEIVE_WQE_LENGTH, QUEUE_BYTES)
          .sourceMac(address.mac())
          .set(SOURCE_IP, address.ip());
    }

    /** Sets the peer. */
    void peer(Host host, Qp other) {
      context
          .set(REMOTE_QPN, other.number)
          .destinationMac(host.address.mac())
          .set(DESTINATION_IP, host.address.ip())
          .set(NEXT_RECEIVE_PSN, other.context.get(NEXT_SEND_PSN));
    }

    int modify(HcrCommand command, int state) {
      context.set(STATE, state).encode(in());
      return command(command, 0, number);
    }

    void toRts() {
      toRtr();
      assertThat(modify(HcrCommand.RTR2RTS, QpcState.RTS)).isZero();
    }

    void toRtr() {
      assertThat(modify(HcrCommand.RST2INIT, QpcState.INIT)).isZero();
      assertThat(modify(HcrCommand.INIT2RTR, QpcState.RTR)).isZero();
    }

    /** The state in the card's copy of the context. */
    int state() {
      return query().get(STATE);
    }

    QueuePairContext query() {
      must(HcrCommand.QUERY_QP, 0, number);
      return QueuePairContext.decode(out());
    }

    /** Writes a work request into the next slot and rings; returns its byte offset. */
    int post(int opcode, long remote, int rkey, int immediate, int flags, Piece... pieces) {
      int offset = write(opcode, remote, rkey, immediate, pieces);
      ringDoorbell(offset, opcode, size(opcode, pieces.length), flags);
      return offset;
    }

    int size(int opcode, int pieces) {
      return 1 + (opcode == 0x0a || opcode == 0x0b ? 0 : 1) + pieces;
    }

    int write(int opcode, long remote, int rkey, int immediate, Piece... pieces) {
      MemorySegment ring = sendRing.segment();
      int offset = sendSlot;
      sendSlot = (sendSlot + STRIDE) % QUEUE_BYTES;
      int size = size(opcode, pieces.length);
      NextUnit.write(
          ring,
          offset,
          NextUnit.address(0, 0),
          NextUnit.size(0, 0),
          NextUnit.control(opcode, size, NextUnit.MARKER),
          immediate);
      int at = offset + 16;
      if (opcode != 0x0a && opcode != 0x0b) {
        RemoteAddressUnit.write(ring, at, remote, rkey);
        at += 16;
      }
      for (Piece piece : pieces) {
        DataUnit.write(ring, at, piece.length(), piece.buffer().key(), piece.address());
        at += 16;
      }
      return offset;
    }

    /**
     * Writes a work request of a next unit and any units behind it, and rings; returns its byte
     * offset.
     */
    int post(int opcode, int immediate, int size, Consumer<MemorySegment> units) {
      int offset = sendSlot;
      sendSlot = (sendSlot + STRIDE) % QUEUE_BYTES;
      MemorySegment slot = sendRing.segment().asSlice(offset, STRIDE);
      NextUnit.write(slot, 0, 0, 0, NextUnit.control(opcode, size, NextUnit.MARKER), immediate);
      units.accept(slot.asSlice(NextUnit.SIZE));
      ringDoorbell(offset, opcode, size, 0);
      return offset;
    }

    /** Compare-and-swap or fetch-and-add. */
    int atomic(int opcode, long remote, int rkey, long swapAdd, long compare, Piece result) {
      return post(
          opcode,
          0,
          4,
          units -> {
            RemoteAddressUnit.write(units, 0, remote, rkey);
            AtomicUnit.write(units, 16, swapAdd, compare);
            DataUnit.write(units, 32, result.length(), result.buffer().key(), result.address());
          });
    }

    /** A datagram to another queue pair, with the Q_Key of that one's context. */
    int datagram(Host host, Qp to, int opcode, int immediate, Piece... pieces) {
      return post(
          opcode,
          immediate,
          4 + pieces.length,
          units -> {
            address(units, host, to, to.context.get(QKEY));
            for (int i = 0; i < pieces.length; i++) {
              Piece piece = pieces[i];
              DataUnit.write(
                  units, 48 + 16L * i, piece.length(), piece.buffer().key(), piece.address());
            }
          });
    }

    void address(MemorySegment unit, Host host, Qp to, int queueKey) {
      UdUnit.write(
          unit,
          0,
          1,
          address.mac(),
          host.address.mac(),
          address.ip(),
          host.address.ip(),
          to.number,
          queueKey);
    }

    void ringDoorbell(int offset, int opcode, int size, int fence) {
      bar2.writeLong(0x3000, Doorbell.sendQueue(number, size, offset / 16, fence, opcode));
    }

    int send(Piece... pieces) {
      return post(0x0a, 0, 0, 0, 0, pieces);
    }

    int write(Buffer target, long offset, Piece... pieces) {
      return post(0x08, target.address() + offset, target.key(), 0, 0, pieces);
    }

    int read(Buffer source, long offset, Piece... pieces) {
      return post(0x10, source.address() + offset, source.key(), 0, 0, pieces);
    }

    /** Posts a receive; returns its byte offset. */
    int receive(Piece... pieces) {
      return receive(
          ring -> {
            int at = 16;
            for (Piece piece : pieces) {
              DataUnit.write(ring, at, piece.length(), piece.buffer().key(), piece.address());
              at += 16;
            }
            DataUnit.writeTerminator(ring, at);
          },
          pieces.length + 2);
    }

    int receive(Consumer<MemorySegment> units, int size) {
      int offset = receiveSlot;
      receiveSlot = (receiveSlot + STRIDE) % QUEUE_BYTES;
      MemorySegment slot = receiveRing.segment().asSlice(offset, STRIDE);
      units.accept(slot);
      NextUnit.writeReceive(slot, 0, size);
      return offset;
    }

    /** Returns a receive slot. */
    void clearSlot(int offset) {
      NextUnit.clear(receiveRing.segment(), offset);
    }
  }

  /** Connects two queue pairs and takes both to RTS. */
  static void connect(Host left, Qp a, Host right, Qp b) {
    a.peer(right, b);
    b.peer(left, a);
    a.toRts();
    b.toRts();
  }

  DmaMapping map(Arena arena, long bytes) {
    return function.map(arena.allocate(bytes, 4096), DmaAccess.READ_WRITE);
  }

  SoftwareHca hca() {
    return ModelProvider.hca(function.locator()).orElseThrow();
  }

  @Override
  public void close() {
    function.close();
  }
}

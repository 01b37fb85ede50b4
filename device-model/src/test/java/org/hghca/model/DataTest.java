package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.hghca.abi.Cqe;
import org.hghca.abi.DataUnit;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.InlineUnit;
import org.hghca.abi.NextUnit;
import org.hghca.abi.QueuePairContext;
import org.hghca.abi.ResizeCq;
import org.hghca.model.Host.Completion;
import org.hghca.model.Host.Piece;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** SENDs, WRITEs and READs of a reliable connection through registers, rings and memory. */
class DataTest {
  private static final int SIZE = 64 * 1024;

  private final Pair pair = new Pair();
  private final Host.Buffer source = pair.left.buffer(SIZE, Host.ALL);
  private final Host.Buffer target = pair.right.buffer(SIZE, Host.ALL);

  @AfterEach
  void close() {
    assertThat(pair.leftHca().faults()).isEmpty();
    assertThat(pair.rightHca().faults()).isEmpty();
    pair.close();
  }

  private void connect(int mtuCode) {
    pair.a.context.set(QueuePairContext.MTU, mtuCode);
    pair.b.context.set(QueuePairContext.MTU, mtuCode);
    pair.connect();
  }

  private static void fill(MemorySegment memory, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    for (long i = 0; i < memory.byteSize(); i += 8) {
      memory.set(ValueLayout.JAVA_LONG, i, random.nextLong());
    }
  }

  private static void same(MemorySegment a, long atA, MemorySegment b, long atB, long length) {
    assertThat(a.asSlice(atA, length).mismatch(b.asSlice(atB, length))).isEqualTo(-1);
  }

  /** Lengths around every edge of an MTU and of pages, at odd addresses. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5})
  void bytesArriveForEveryLengthAndMtu(int mtuCode) {
    connect(mtuCode);
    int mtu = 128 << mtuCode;
    List<Integer> lengths = new ArrayList<>(List.of(0, 1, 7, 8, 4095, 4096, 4097, 3 * 4096 + 5));
    for (int n = 1; n <= 3; n++) {
      lengths.addAll(List.of(n * mtu - 1, n * mtu, n * mtu + 1));
    }
    int round = 0;
    for (int length : lengths) {
      long from = 3L + round % 5;
      long to = 4096L - 7 + round % 11;
      round++;
      fill(source.memory(), round);
      target.memory().fill((byte) 0x55);
      int slot = pair.b.receive(new Piece(target, to, length + 10));
      int posted = pair.a.send(new Piece(source, from, length));
      assertThat(pair.a.cq.take())
          .isEqualTo(new Completion(pair.a.number, 0x0a, true, length, posted, pair.b.number, 0));
      int opcode = length <= mtu ? 0x04 : 0x02;
      assertThat(pair.b.cq.take())
          .isEqualTo(new Completion(pair.b.number, opcode, false, length, slot, pair.a.number, 0));
      pair.b.clearSlot(slot);
      same(source.memory(), from, target.memory(), to, length);
      assertThat(target.memory().get(ValueLayout.JAVA_BYTE, to - 1)).isEqualTo((byte) 0x55);
      assertThat(target.memory().get(ValueLayout.JAVA_BYTE, to + length)).isEqualTo((byte) 0x55);

      fill(source.memory(), -round);
      pair.a.write(target, to, new Piece(source, from, length));
      assertThat(pair.a.cq.take().bytes()).isEqualTo(length);
      same(source.memory(), from, target.memory(), to, length);

      fill(target.memory(), 1000 + round);
      int read = pair.a.read(target, to, new Piece(source, from, length));
      assertThat(pair.a.cq.take())
          .isEqualTo(new Completion(pair.a.number, 0x10, true, length, read, pair.b.number, 0));
      same(source.memory(), from, target.memory(), to, length);
    }
  }

  @Test
  void immediatesArrive() {
    connect(1);
    int first = pair.b.receive(new Piece(target, 0, 1000));
    int second = pair.b.receive();
    pair.a.post(0x0b, 0, 0, 0xdead_beef, 0, new Piece(source, 0, 300));
    pair.a.post(0x09, target.address(), target.key(), 0x0102_0304, 0, new Piece(source, 0, 700));
    assertThat(pair.b.cq.take())
        .isEqualTo(
            new Completion(pair.b.number, 0x03, false, 300, first, pair.a.number, 0xdead_beef));
    assertThat(pair.b.cq.take())
        .isEqualTo(
            new Completion(pair.b.number, 0x09, false, 700, second, pair.a.number, 0x0102_0304));
    int third = pair.b.receive();
    int fourth = pair.b.receive(new Piece(target, 0, 8));
    pair.a.post(0x09, target.address(), target.key(), -1, 0, new Piece(source, 0, 0));
    pair.a.post(0x0b, 0, 0, 5, 0);
    assertThat(pair.b.cq.take())
        .isEqualTo(new Completion(pair.b.number, 0x0b, false, 0, third, pair.a.number, -1));
    assertThat(pair.b.cq.take())
        .isEqualTo(new Completion(pair.b.number, 0x05, false, 0, fourth, pair.a.number, 5));
  }

  @Test
  void sixteenPartsAreGatheredAndScattered() {
    connect(1);
    fill(source.memory(), 1);
    Piece[] out = new Piece[16];
    Piece[] in = new Piece[16];
    int total = 0;
    for (int i = 0; i < 16; i++) {
      out[i] = new Piece(source, 300L * i, 10 + i * 11);
      in[15 - i] = new Piece(target, 500L * i, 10 + i * 11);
      total += 10 + i * 11;
    }
    pair.b.receive(in);
    pair.a.send(out);
    assertThat(pair.a.cq.take().bytes()).isEqualTo(total);
    assertThat(pair.b.cq.take().bytes()).isEqualTo(total);
    byte[] sent = bytes(source.memory(), out);
    assertThat(bytes(target.memory(), in)).isEqualTo(sent);
    target.memory().fill((byte) 0);
    pair.a.write(target, 9, out);
    assertThat(target.memory().asSlice(9, total).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(sent);
    source.memory().fill((byte) 0);
    pair.a.read(target, 9, out);
    assertThat(bytes(source.memory(), out)).isEqualTo(sent);
  }

  private static byte[] bytes(MemorySegment memory, Piece[] pieces) {
    var all = new ByteArrayOutputStream();
    for (Piece piece : pieces) {
      all.writeBytes(memory.asSlice(piece.offset(), piece.length()).toArray(ValueLayout.JAVA_BYTE));
    }
    return all.toByteArray();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 12, 13, 28, 100, 476, 492})
  void inlineDataIsTakenFromTheWorkRequest(int length) {
    connect(1);
    MemorySegment ring = pair.a.sendRing.segment();
    int offset = pair.a.write(0x0a, 0, 0, 0);
    InlineUnit.writeHeader(ring, offset + 16, length);
    for (int i = 0; i < length; i++) {
      ring.set(ValueLayout.JAVA_BYTE, offset + 20 + i, (byte) (i + 1));
    }
    int size = 1 + (4 + length + 15) / 16;
    NextUnit.write(ring, offset, 0, 0, NextUnit.control(0x0a, size, NextUnit.MARKER), 0);
    pair.b.receive(new Piece(target, 0, 512));
    pair.a.ringDoorbell(offset, 0x0a, size, 0);
    assertThat(pair.b.cq.take().bytes()).isEqualTo(length);
    same(ring, offset + 20, target.memory(), 0, length);
  }

  @Test
  void chainIsStartedByOneDoorbell() {
    connect(5);
    int[] offsets = new int[3];
    for (int i = 0; i < 3; i++) {
      offsets[i] =
          pair.a.write(
              0x08, target.address() + 16L * i, target.key(), 0, new Piece(source, 16L * i, 16));
    }
    MemorySegment ring = pair.a.sendRing.segment();
    NextUnit.link(ring, offsets[0], offsets[1] / 16, 0x08, 3, 0);
    NextUnit.link(ring, offsets[1], offsets[2] / 16, 0x08, 3, 0);
    pair.a.ringDoorbell(offsets[0], 0x08, 3, 0);
    for (int offset : offsets) {
      assertThat(pair.a.cq.take().wqe()).isEqualTo(offset);
    }
    assertThat(pair.a.cq.hasNext()).isFalse();
  }

  @Test
  void ringsWrapAround() {
    connect(3);
    for (int i = 0; i < 100; i++) {
      source.memory().set(ValueLayout.JAVA_INT, 0, i);
      int slot = pair.b.receive(new Piece(target, 0, 4));
      int posted = pair.a.send(new Piece(source, 0, 4));
      assertThat(posted).isEqualTo(i % 8 * 512);
      assertThat(pair.a.cq.take().wqe()).isEqualTo(posted);
      assertThat(pair.b.cq.take().wqe()).isEqualTo(i % 8 * 512).isEqualTo(slot);
      assertThat(target.memory().get(ValueLayout.JAVA_INT, 0)).isEqualTo(i);
      pair.b.clearSlot(slot);
    }
  }

  @Test
  void contextCountsPacketSequenceNumbers() {
    pair.a.context.set(QueuePairContext.NEXT_SEND_PSN, 0xff_fffe);
    pair.a.context.set(QueuePairContext.LAST_ACKED_PSN, 0xff_fffe);
    connect(1);
    pair.a.write(target, 0, new Piece(source, 0, 1000));
    assertThat(pair.a.query().get(QueuePairContext.NEXT_SEND_PSN)).isEqualTo(2);
    assertThat(pair.a.query().get(QueuePairContext.LAST_ACKED_PSN)).isEqualTo(2);
    assertThat(pair.b.query().get(QueuePairContext.NEXT_RECEIVE_PSN)).isEqualTo(2);
    // A replaced context does not reset the numbers.
    assertThat(pair.a.modify(HcrCommand.RTS2RTS, 3)).isZero();
    pair.a.write(target, 0, new Piece(source, 0, 1));
    assertThat(pair.a.cq.take().failed()).isFalse();
    assertThat(pair.a.cq.take().failed()).isFalse();
  }

  @Test
  void afterResetAQueuePairStartsAtTheBeginningOfItsRings() {
    connect(3);
    pair.b.receive(new Piece(target, 0, 8));
    pair.a.send(new Piece(source, 0, 8));
    assertThat(pair.b.cq.take().wqe()).isZero();
    for (Host.Qp qp : List.of(pair.a, pair.b)) {
      assertThat(qp.modify(HcrCommand.ERR2RST, 0)).isZero();
    }
    pair.b.clearSlot(0);
    pair.connect();
    // Slot 0 again, independent of the slots used before.
    MemorySegment slot = pair.b.receiveRing.segment();
    DataUnit.write(slot, 16, 8, target.key(), target.address());
    NextUnit.writeReceive(slot, 0, 3);
    pair.a.send(new Piece(source, 0, 8));
    assertThat(pair.b.cq.take().wqe()).isZero();
  }

  @Test
  void queuePairsOfOneHcaReachEachOther() {
    Host.Qp c = pair.left.qp();
    Host.Qp d = pair.left.qp();
    Host.connect(pair.left, c, pair.left, d);
    d.receive(new Piece(source, 4096, 100));
    fill(source.memory(), 3);
    c.send(new Piece(source, 0, 100));
    assertThat(d.cq.take().bytes()).isEqualTo(100);
    same(source.memory(), 0, source.memory(), 4096, 100);
  }

  @Test
  void completionQueueContinuesInOtherMemoryAfterResize() {
    connect(3);
    var ring = pair.left.function.allocate(32 * 4);
    ring.segment().fill((byte) 0xff);
    int key = pair.left.register(ring, 0, Host.LOCAL);
    pair.a.write(target, 0, new Piece(source, 0, 8));
    pair.a.cq.take();
    new ResizeCq(2, key).encode(pair.left.in());
    pair.left.must(HcrCommand.RESIZE_CQ, 0, pair.a.cq.number);
    for (int i = 0; i < 6; i++) {
      pair.a.write(target, 0, new Piece(source, 0, i + 1));
      if (i < 2) {
        Cqe.free(ring.segment(), 32L * i);
      }
    }
    // Six completions in a ring of four, the first two consumed: the last two are in their slots.
    int[] lengths = {5, 6, 3, 4};
    for (int i = 0; i < 4; i++) {
      assertThat(Cqe.byteCount(ring.segment(), 32L * i)).isEqualTo(lengths[i]);
    }
    assertThat(pair.a.cq.hasNext()).isFalse();
  }
}

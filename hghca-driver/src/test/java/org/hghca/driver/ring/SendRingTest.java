package org.hghca.driver.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.hghca.abi.Bar;
import org.hghca.abi.Doorbell;
import org.hghca.abi.HardwareProfile;
import org.hghca.provider.queue.LockRank;
import org.hghca.provider.queue.SpinLock;
import org.hghca.uar.UarAllocator;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePairCapabilities;
import org.hghca.verbs.SendRequest;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.direct.RingMemory;
import org.hghca.vfio.testing.Racers;
import org.hghca.vfio.testing.StubFunction;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The elements that the makers' RTL got in its simulation (transfers between queue pairs 2 and 3,
 * local key 20h at 7f0000000000h, remote key 21h at 7e0000000000h): the driver writes the same,
 * plus the bits that the second revision needs and the first ignores.
 */
class SendRingTest {
  private static final long LOCAL = 0x7f00_0000_0000L;
  private static final long REMOTE = 0x7e00_0000_0000L;
  private static final int LKEY = 0x20;
  private static final int RKEY = 0x21;
  private static final long SLOT = 64;
  private static final int ELEMENTS = 16;
  private static final int GUARD = ELEMENTS * 4096;
  private static final QueuePairCapabilities CAPABILITIES =
      new QueuePairCapabilities(16, 0, 2, 0, 28);

  /** Bits of a next unit that the document defines: the rest is the portable superset. */
  private static final int[] DOCUMENTED = {0xffff_ffdf, 0xffff_ffff, 0x0000_000e, 0xffff_ffff};

  private final MemorySegment memory = Arena.ofAuto().allocate(16 * SLOT, 4096);
  private final List<Long> doorbells = new ArrayList<>();
  private final SpinLock lock = new SpinLock(LockRank.SENDS);
  private final RingShape shape = new RingShape(RingMemory.guarded(memory), 2, 16, 16, 6);
  private final SendRing ring = ring(lock);

  private SendRing ring(SpinLock lockOfPosters) {
    return ring(lockOfPosters, new DoorbellOnlyFunction(doorbells));
  }

  private SendRing ring(SpinLock lockOfPosters, PciFunction function) {
    return new SendRing(
        shape,
        new SendWriter(QpType.RC, HardwareProfile.S, null, shape, CAPABILITIES, false),
        UarAllocator.open(function).allocate(),
        lockOfPosters,
        () -> new BadRequestException(Errno.EINVAL, 0, "not open"));
  }

  @BeforeEach
  void open() {
    ring.setOpen(() -> true);
  }

  private int dword(int slot, int index) {
    return memory.get(
        ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN), slot * SLOT + 4L * index);
  }

  private String element(int slot, int bytes) {
    MemorySegment copy = MemorySegment.ofArray(new int[bytes / 4]);
    for (int i = 0; i < bytes / 4; i++) {
      int value = i < 4 ? dword(slot, i) & DOCUMENTED[i] : dword(slot, i);
      copy.set(ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN), 4L * i, value);
    }
    return HexFormat.of().formatHex(copy.toArray(ValueLayout.JAVA_BYTE));
  }

  private static SendRequest request() {
    return new SendRequest();
  }

  @Test
  void closedRingTakesNothing() {
    ring.setOpen(() -> false);
    assertThatThrownBy(() -> ring.post(request().send().sge(LOCAL, 64, LKEY)))
        .hasMessageContaining("not open");
    assertThat(doorbells).isEmpty();
  }

  @Test
  void ringIsNotResetInTheMiddleOfAPost() throws InterruptedException {
    ring.post(request().send().sge(LOCAL, 64, LKEY));
    lock.lock(); // as a posting thread
    Thread resetting = Thread.ofPlatform().daemon().start(ring::reset);
    while (!LockWait.isAtALockOrOver(resetting)) {
      Thread.onSpinWait();
    }
    int meanwhile = ring.outstanding();
    lock.unlock();
    resetting.join();
    assertThat(meanwhile).isEqualTo(1);
    assertThat(ring.outstanding()).isZero();
  }

  @Test
  void send() {
    ring.post(request().send().sge(LOCAL, 64, LKEY));
    assertThat(element(0, 32))
        .isEqualTo("00000000000000000000000000000000400000002000000000000000007f0000");
    assertThat(doorbells).containsExactly(0x000002020000000aL);
  }

  @Test
  void sendWithImmediate() {
    ring.post(request().sendWithImmediate(0xdeadbeef).sge(LOCAL, 100, LKEY));
    assertThat(element(0, 32))
        .isEqualTo("000000000000000000000000efbeadde640000002000000000000000007f0000");
    assertThat(doorbells).containsExactly(0x000002020000000bL);
  }

  @Test
  void rdmaWrite() {
    ring.post(request().rdmaWrite(REMOTE + 0x40, RKEY).sge(LOCAL, 300, LKEY));
    assertThat(element(0, 48))
        .isEqualTo(
            "0000000000000000000000000000000040000000007e0000210000000000"
                + "00002c0100002000000000000000007f0000");
    assertThat(doorbells).containsExactly(0x0000020300000008L);
  }

  @Test
  void rdmaWriteWithImmediate() {
    ring.post(
        request().rdmaWriteWithImmediate(REMOTE + 0x40, RKEY, 0x11223344).sge(LOCAL, 200, LKEY));
    assertThat(element(0, 48))
        .isEqualTo(
            "0000000000000000000000004433221140000000007e0000210000000000"
                + "0000c80000002000000000000000007f0000");
    assertThat(doorbells).containsExactly(0x0000020300000009L);
  }

  @Test
  void rdmaRead() {
    ring.post(request().rdmaRead(REMOTE, RKEY).sge(LOCAL, 64, LKEY));
    assertThat(element(0, 48))
        .isEqualTo(
            "0000000000000000000000000000000000000000007e0000210000000000"
                + "0000400000002000000000000000007f0000");
    assertThat(doorbells).containsExactly(0x0000020300000010L);
  }

  @Test
  void inlineBytesOfSeveralElementsAreLimitedTogether() {
    MemorySegment data = MemorySegment.ofArray(new byte[28]);
    data.fill((byte) 5);
    assertThatThrownBy(
            () ->
                ring.post(request().send().inline(data.asSlice(0, 20)).inline(data.asSlice(0, 9))))
        .hasMessageContaining("29 bytes inline: QP 0x000002 takes 28");
    assertThat(dword(0, 4 + 1 + 5)).as("not even the first bytes").isZero();
    ring.post(request().send().inline(data.asSlice(0, 20)).inline(data.asSlice(0, 8)));
    assertThat(dword(0, 4)).isEqualTo(0x8000_0000 | 28);
    assertThat(doorbells).hasSize(1);
  }

  private static void elements(SendRequest request, MemorySegment data) {
    request.send();
    for (int i = 0; i < ELEMENTS; i++) {
      request.inline(data);
    }
  }

  /** Posting stores doorbells by address, as long as the ring is open: a flush may come later. */
  @Test
  void flushOfAClosedRingChecksWhereTheDoorbellIs() {
    Arena arena = Arena.ofShared();
    MmioRegion registers = MmioRegion.mapped(arena.allocate(8 << 20, 4096));
    StubFunction function =
        new StubFunction() {
          @Override
          public MmioRegion region(int bar) {
            return registers;
          }
        };
    SendRing mapped = ring(lock, function);
    mapped.setOpen(() -> true);
    assertThat(mapped.post(request().send().sge(LOCAL, 64, LKEY))).isTrue();
    assertThat(registers.readLong(Bar.uarPageOffset(0) + Doorbell.SEND_QUEUE)).isNotZero();
    assertThat(mapped.enqueue(request().send().sge(LOCAL, 64, LKEY))).isTrue();
    mapped.setOpen(() -> false);
    arena.close();

    assertThatThrownBy(mapped::flush).isInstanceOf(IllegalStateException.class);
  }

  /** That is wrong, but must not write where another object may be. */
  @Test
  void requestThatChangesWhileItIsPostedStaysInItsSlot() throws InterruptedException {
    MemorySegment larger = Arena.ofAuto().allocate(SLOT + GUARD, 4096);
    RingShape one = new RingShape(RingMemory.guarded(larger), 2, 1, 1, 6);
    SendWriter writer =
        new SendWriter(QpType.RC, HardwareProfile.S, null, one, CAPABILITIES, false);
    MemorySegment few = MemorySegment.ofArray(new byte[1]).fill((byte) 5);
    MemorySegment many = MemorySegment.ofArray(new byte[4096]).fill((byte) 5);
    SendRequest shared = request().send().inline(few);
    int operation = ring.operation(shared);
    AtomicBoolean done = new AtomicBoolean();
    Thread changing =
        Thread.ofPlatform()
            .daemon()
            .start(
                () -> {
                  while (!done.get()) {
                    elements(shared, few);
                    elements(shared, many);
                  }
                });
    int largest = 0;
    int refused = 0;
    for (int i = 0; i < 200_000; i++) {
      try {
        largest = Math.max(largest, writer.write(shared, operation, 0, 0));
      } catch (BadRequestException | IndexOutOfBoundsException e) {
        refused++; // as it was at that moment
      }
    }
    done.set(true);
    changing.join();
    assertThat(refused).isLessThan(200_000);
    assertThat(largest * 16L).isLessThanOrEqualTo(SLOT);
    assertThat(larger.asSlice(SLOT).mismatch(MemorySegment.ofArray(new byte[GUARD]))).isEqualTo(-1);
  }

  @Test
  void inlineOfTwelveAndOfTwentyEightBytes() {
    byte[] data =
        HexFormat.of().parseHex("030a11181f262d343b424950575e656c737a81888f969da4abb2b9c0");
    ring.post(request().send().inline(MemorySegment.ofArray(data).asSlice(0, 12)));
    ring.post(request().send().inline(MemorySegment.ofArray(data)));
    assertThat(element(0, 32))
        .isEqualTo("000000000000000000000000000000000c000080030a11181f262d343b424950");
    assertThat(element(1, 48))
        .isEqualTo(
            "000000000000000000000000000000001c000080030a11181f262d343b42"
                + "4950575e656c737a81888f969da4abb2b9c0");
    assertThat(doorbells).containsExactly(0x000002020000000aL, 0x000002030000040aL);
  }

  @Test
  void twoElements() {
    ring.post(request().send().sge(LOCAL, 40, LKEY).sge(LOCAL + 0x28, 30, LKEY));
    assertThat(element(0, 48))
        .isEqualTo(
            "00000000000000000000000000000000280000002000000000000000007f"
                + "00001e0000002000000028000000007f0000");
  }

  @Test
  void emptyElementIsOmitted() {
    ring.post(request().send().sge(LOCAL, 0, LKEY).sge(LOCAL, 64, LKEY));
    assertThat(element(0, 32))
        .isEqualTo("00000000000000000000000000000000400000002000000000000000007f0000");
  }

  @Test
  void secondRevisionFindsSizeAndOpcodeInTheElementItself() {
    ring.post(request().rdmaWrite(REMOTE, RKEY).sge(LOCAL, 8, LKEY));
    // dw2: opcode in 21:14, size in 16-byte units in 13:6, bit 0
    assertThat(dword(0, 2)).isEqualTo(0x08 << 14 | 3 << 6 | 1);
  }

  @Test
  void listIsChainedBehindOneDoorbell() {
    SendRequest[] list = {
      request().send().sge(LOCAL, 8, LKEY),
      request().rdmaWrite(REMOTE, RKEY).sge(LOCAL, 8, LKEY),
      request().rdmaRead(REMOTE, RKEY).sge(LOCAL, 8, LKEY)
    };
    assertThat(ring.post(list, 0, 3)).isEqualTo(3);
    assertThat(doorbells).containsExactly(0x000002020000000aL);
    // nda = offset / 16 in 31:6, nop in 4:0; nds in dw1 5:0
    assertThat(dword(0, 0)).isEqualTo((64 / 16) << 6 | 0x08);
    assertThat(dword(0, 1)).isEqualTo(3);
    assertThat(dword(1, 0)).isEqualTo((128 / 16) << 6 | 0x10);
    assertThat(dword(1, 1)).isEqualTo(3);
    assertThat(dword(2, 0) & ~(1 << 5)).isZero();
    assertThat(dword(2, 1)).isZero();
  }

  @Test
  void fencedRequestOfAListHasADoorbellOfItsOwn() {
    SendRequest[] list = {
      request().send().sge(LOCAL, 8, LKEY),
      request().send().sge(LOCAL, 8, LKEY).fence(),
      request().send().sge(LOCAL, 8, LKEY)
    };
    assertThat(ring.post(list, 0, 3)).isEqualTo(3);
    assertThat(doorbells)
        .containsExactly(0x000002020000000aL, 0x000002020000042aL, 0x000002020000080aL);
    assertThat(dword(0, 1)).isZero();
    assertThat(dword(1, 1)).isEqualTo(1 << 6);
  }

  private SendRequest write(int at) {
    return request().wrId(at).rdmaWrite(REMOTE, RKEY).sge(LOCAL, 8, LKEY);
  }

  /** The slots that doorbells name, of 4 units each. */
  private List<Integer> rungSlots() {
    return doorbells.stream().map(doorbell -> Doorbell.headUnits16(doorbell) / 4).toList();
  }

  /** The same as a list: the same chain, the same doorbell. */
  @Test
  void enqueuedRequestsAreAListThatTheFlushRings() {
    ring.post(new SendRequest[] {write(0), write(1), write(2)}, 0, 3);
    List<String> list = List.of(element(0, 48), element(1, 48), element(2, 48));
    List<Long> rung = List.copyOf(doorbells);
    doorbells.clear();
    ring.reset();
    memory.fill((byte) 0);

    for (int i = 0; i < 3; i++) {
      assertThat(ring.enqueue(write(i))).isTrue();
    }
    assertThat(doorbells).isEmpty();
    assertThat(ring.outstanding()).isEqualTo(3);
    ring.flush();
    ring.flush();

    assertThat(doorbells).isEqualTo(rung).hasSize(1);
    assertThat(List.of(element(0, 48), element(1, 48), element(2, 48))).isEqualTo(list);
    assertThat(ring.doorbells()).isEqualTo(2);
  }

  @Test
  void postingRingsEnqueuedRequestsFirst() {
    ring.enqueue(write(0));
    ring.enqueue(write(1));
    assertThat(ring.post(write(2))).isTrue();

    assertThat(doorbells).hasSize(2);
    assertThat(rungSlots()).containsExactly(0, 2);
    assertThat(ring.enqueue(write(3))).isTrue();
    assertThat(ring.post(new SendRequest[] {write(4), write(5)}, 0, 2)).isEqualTo(2);
    assertThat(rungSlots()).containsExactly(0, 2, 3, 4);
  }

  /** As in a list: it is chained to nothing, and nothing to it. */
  @Test
  void enqueuedFencedRequestHasADoorbellOfItsOwnAtOnce() {
    ring.enqueue(write(0));
    ring.enqueue(write(1).fence());
    assertThat(rungSlots()).containsExactly(0, 1);
    ring.enqueue(write(2));
    assertThat(doorbells).hasSize(2);
    ring.flush();
    assertThat(rungSlots()).containsExactly(0, 1, 2);
  }

  @Test
  void fullRingRingsSoThatSlotsBecomeFree() {
    for (int i = 0; i < 16; i++) {
      assertThat(ring.enqueue(write(i))).isTrue();
    }
    assertThat(doorbells).isEmpty();

    assertThat(ring.enqueue(write(16))).isFalse();
    assertThat(doorbells).hasSize(1);
    assertThat(ring.post(write(16))).isFalse();
  }

  /** The known tail keeps pace, or after 2^31 requests it would look like room. */
  @Test
  void enqueuingAloneSeesFreedSlots() {
    Completions one = new Completions(1);
    for (int i = 0; i < 40; i++) {
      assertThat(ring.enqueue(write(i))).isTrue();
      ring.flush();
      ring.complete(one, 0, 0, 0, 0);
    }
    for (int i = 0; i < 16; i++) {
      assertThat(ring.post(write(i))).isTrue();
    }
    assertThat(ring.post(write(16))).isFalse();
  }

  /** A poller that finds an error reports it to a ring whose single owner takes no lock. */
  @Test
  void openRingIsNotChangedWhileItsOwnerPosts() throws InterruptedException {
    SendRing owned = ring(null);
    owned.setOpen(() -> true);
    Completions one = new Completions(1);
    Racers.race(
        20_000,
        List.of(
            i -> {
              assertThat(owned.enqueue(write(0))).isTrue();
              owned.flush();
              assertThat(owned.post(write(1))).as("post into an empty ring").isTrue();
              owned.complete(one, 0, 0, 0, 0);
              owned.complete(one, 0, 0, 0, 0);
              doorbells.clear();
            },
            i -> owned.setOpen(() -> true)));
  }

  @Test
  void badRequestKeepsTheEnqueuedOnes() {
    ring.enqueue(write(0));
    SendRequest tooMany = write(1).sge(LOCAL, 8, LKEY).sge(LOCAL, 8, LKEY);
    assertThatThrownBy(() -> ring.enqueue(tooMany)).isInstanceOf(BadRequestException.class);
    ring.enqueue(write(1));
    ring.flush();

    assertThat(ring.outstanding()).isEqualTo(2);
    assertThat(doorbells).hasSize(1);
  }

  @Test
  void resetDiscardsEnqueuedRequests() {
    ring.enqueue(write(0));
    ring.setOpen(() -> false);
    assertThatThrownBy(() -> ring.enqueue(write(1))).hasMessageContaining("not open");
    assertThatThrownBy(() -> ring.post(write(1))).hasMessageContaining("not open");
    ring.reset();
    ring.flush();
    assertThat(doorbells).isEmpty();

    ring.setOpen(() -> true);
    assertThat(ring.post(write(0))).isTrue();
    assertThat(doorbells).hasSize(1);
  }
}

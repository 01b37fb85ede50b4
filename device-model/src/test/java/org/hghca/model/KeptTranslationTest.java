package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.List;
import org.hghca.abi.CompletionQueueContext;
import org.hghca.abi.Cqe;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.IcmChunk;
import org.hghca.abi.MapIcm;
import org.hghca.abi.Mpt;
import org.hghca.abi.QpcState;
import org.hghca.abi.QueuePairContext;
import org.hghca.abi.WriteMtt;
import org.hghca.model.Host.Completion;
import org.hghca.model.Host.Piece;
import org.hghca.vfio.DmaMapping;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the card keeps of its translation tables is void at once when they or the mappings change.
 */
class KeptTranslationTest {
  private static final int PAGE = 4096;

  /** The pages of {@link Host#icm} that have the tables, and one that has nothing. */
  private static final int MPT_PAGE = 20;

  private static final int MTT_PAGE = 40;
  private static final int FREE_PAGE = 60;

  /** That of the contexts of completion queues, and the bytes of one. */
  private static final int CQC_PAGE = 16;

  private static final int CQC_SLOT = 128;

  private static final int ENTRY = Mpt.LAYOUT.size();
  private static final int REMOTE_ACCESS = 0x13;
  private static final int REMOTE_OPERATION = 0x14;

  private final Pair pair = new Pair();
  private final Host left = pair.left;
  private final Host right = pair.right;
  private final Host.Buffer source = left.buffer(3 * PAGE, Host.ALL);
  private final Host.Buffer target = right.buffer(3 * PAGE, Host.ALL);
  private final DmaMapping other = right.function.allocate(3 * PAGE);
  private byte content;

  @BeforeEach
  void accessTheTarget() {
    pair.connect();
    write();
    assertArrivesIn(target.memory());
  }

  @AfterEach
  void close() {
    pair.close();
  }

  /** Writes three pages to the target, with a content of their own. */
  private Completion write() {
    source.memory().fill(++content);
    pair.a.write(target, 0, new Piece(source, 0, 3 * PAGE));
    return pair.a.cq.take();
  }

  private void writeByte(Host.Qp sender) {
    sender.write(target, 0, new Piece(source, 0, 1));
  }

  /** A queue pair that completes into a queue, with a peer of its own. */
  private Host.Qp connected(Host.Cq queue) {
    Host.Qp sender = left.qp(queue);
    Host.connect(left, sender, right, right.qp());
    return sender;
  }

  private void writeEntries(Host host, long first, long... pages) {
    WriteMtt.encode(host.in(), first, pages);
    host.must(HcrCommand.WRITE_MTT, 0, pages.length);
  }

  private void assertArrivesIn(MemorySegment memory) {
    for (long page = 0; page < 3; page++) {
      assertThat(memory.get(ValueLayout.JAVA_BYTE, page * PAGE)).isEqualTo(content);
      assertThat(memory.get(ValueLayout.JAVA_BYTE, page * PAGE + PAGE - 1)).isEqualTo(content);
    }
  }

  private void assertWritesInto(MemorySegment memory) {
    assertThat(write().failed()).isFalse();
    assertArrivesIn(memory);
  }

  /** The index of the first entry in the MTT of the target. */
  private long firstPage() {
    return Mpt.MTT_SEGMENT.getLong(
        right.icm.segment(), (long) MPT_PAGE * PAGE + (long) target.key() * ENTRY);
  }

  private long[] pagesOfOther() {
    return new long[] {other.iova(0), other.iova(PAGE), other.iova(2 * PAGE)};
  }

  private void give(int access, long firstPage) {
    give(target, access, 3 * PAGE, firstPage);
  }

  private void give(Host.Buffer buffer, int access, long length, long firstPage) {
    int flags = access | 1 << 8 | 1 << 17;
    int key = buffer.key();
    new Mpt(flags, 0, key, Host.PD, buffer.address(), length, 0, 0, 0, firstPage, 0)
        .encode(right.in());
    right.must(HcrCommand.SW2HW_MPT, 0, key);
  }

  private void map(long virt, int page) {
    MapIcm.encode(right.in(), List.of(new IcmChunk(virt, right.icm.iova((long) page * PAGE), 1)));
    right.must(HcrCommand.MAP_ICM, MapIcm.TRANSLATION, 1);
  }

  @Test
  void writtenMttEntriesHoldAtOnce() {
    writeEntries(right, firstPage(), pagesOfOther());
    assertWritesInto(other.segment());
  }

  /** Only the middle page lies elsewhere: it is not taken for one that follows the first. */
  @Test
  void oneWrittenEntryHoldsAlone() {
    writeEntries(right, firstPage() + 1, other.iova(0));
    assertThat(write().failed()).isFalse();
    assertThat(other.segment().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo(content);
    assertThat(target.memory().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo(content);
    assertThat(target.memory().get(ValueLayout.JAVA_BYTE, PAGE)).isEqualTo((byte) (content - 1));
    assertThat(target.memory().get(ValueLayout.JAVA_BYTE, 2 * PAGE)).isEqualTo(content);
  }

  @Test
  void returnedEntryAllowsNothing() {
    right.must(HcrCommand.HW2SW_MPT, 0, target.key());
    assertThat(write().word() & 0xff).isEqualTo(REMOTE_ACCESS);
  }

  @Test
  void entryTakenAgainHasItsNewPages() {
    long spare = firstPage() + 64;
    moveTo(spare, pagesOfOther());
    assertWritesInto(other.segment());
  }

  @Test
  void entryTakenAgainHasItsNewPermissions() {
    long pages = firstPage();
    right.must(HcrCommand.HW2SW_MPT, 0, target.key());
    give(Host.LOCAL, pages);
    assertThat(write().word() & 0xff).isEqualTo(REMOTE_ACCESS);
  }

  private void moveTo(long first, long[] pages) {
    writeEntries(right, first, pages);
    right.must(HcrCommand.HW2SW_MPT, 0, target.key());
    give(Host.ALL, first);
  }

  @Test
  void entriesMayLieInTwoPagesOfTheTable() {
    moveTo(PAGE / 8 - 1, pagesOfOther());
    for (int i = 0; i < 2; i++) {
      assertWritesInto(other.segment());
    }
  }

  /** Behind the end of the table's page another page follows than the next one. */
  @Test
  void pagesThatDoNotFollowAreFoundBehindAPageOfTheTable() {
    long[] pages = {other.iova(0), other.iova(2 * PAGE), other.iova(PAGE)};
    for (int first = PAGE / 8 - 2; first < PAGE / 8; first++) {
      moveTo(first, pages);
      assertWritesInto(other.segment());
    }
  }

  @Test
  void mptIsReadWhereItIsMappedNow() {
    long spare = firstPage() + 64;
    writeEntries(right, spare, pagesOfOther());
    write();
    MemorySegment tables = right.icm.segment();
    MemorySegment.copy(
        tables, (long) MPT_PAGE * PAGE, tables, (long) FREE_PAGE * PAGE, (long) PAGE);
    Mpt.MTT_SEGMENT.setLong(tables, (long) FREE_PAGE * PAGE + (long) target.key() * ENTRY, spare);
    map(Host.MPT, FREE_PAGE);
    assertWritesInto(other.segment());
  }

  @Test
  void mttIsReadWhereItIsMappedNow() {
    MemorySegment tables = right.icm.segment();
    MemorySegment.copy(
        tables, (long) MTT_PAGE * PAGE, tables, (long) FREE_PAGE * PAGE, (long) PAGE);
    for (int i = 0; i < 3; i++) {
      tables.set(
          ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN),
          (long) FREE_PAGE * PAGE + 8 * (firstPage() + i),
          other.iova((long) i * PAGE));
    }
    map(Host.MTT, FREE_PAGE);
    assertWritesInto(other.segment());
  }

  /**
   * A page that leads nowhere takes the place of one that was found; then a region begins with the
   * index -1, which no page has.
   */
  @Test
  void pageThatLeadsNowhereIsNotKept() {
    Host.Buffer absurd = right.buffer(PAGE, Host.ALL);
    Host.Qp sender = left.qp();
    Host.connect(left, sender, right, right.qp());
    long behind = 1024L * PAGE;
    writeEntries(right, 1023, other.iova(0));
    writeEntries(right, 2047, 0xdead_0000_0000L);
    right.must(HcrCommand.HW2SW_MPT, 0, target.key());
    right.must(HcrCommand.HW2SW_MPT, 0, absurd.key());
    give(target, Host.ALL, behind + PAGE, 1023);
    give(absurd, Host.ALL, PAGE, -1);
    pair.a.write(target, 0, new Piece(source, 0, 1));
    assertThat(pair.a.cq.take().failed()).isFalse();
    pair.a.write(target, behind, new Piece(source, 0, 1));
    assertThat(pair.a.cq.take().word() & 0xff).isEqualTo(REMOTE_OPERATION);

    sender.write(absurd, 0, new Piece(source, 0, 1));

    assertThat(sender.cq.take().word() & 0xff).isEqualTo(REMOTE_OPERATION);
  }

  /** The memory of the target is mapped no longer. */
  @Test
  void memoryThatTheHostUnmapsIsInaccessible() {
    target.mapping().close();
    assertThat(write().word() & 0xff).isEqualTo(REMOTE_OPERATION);
    assertThat(right.hca().faultCount()).isPositive();
  }

  /** The first page of the ring of a queue is in other memory, with the same content. */
  private void move(Host host, int key, MemorySegment ring, DmaMapping to) {
    to.segment().copyFrom(ring.asSlice(0, PAGE));
    long first =
        Mpt.MTT_SEGMENT.getLong(host.icm.segment(), (long) MPT_PAGE * PAGE + (long) key * ENTRY);
    writeEntries(host, first, to.iova(0));
  }

  @Test
  void completionsAreWrittenWhereTheirQueueIsNow() {
    Host.Cq queue = left.cq(6);
    int key = left.lastKey();
    Host.Qp sender = connected(queue);
    writeByte(sender);
    assertThat(queue.take().failed()).isFalse();
    DmaMapping elsewhere = left.function.allocate(PAGE);
    move(left, key, queue.ring, elsewhere);

    writeByte(sender);

    assertThat(queue.hasNext()).isFalse();
    long second = Cqe.SIZE;
    assertThat(Cqe.qpn(elsewhere.segment(), second)).isEqualTo(sender.number);
    assertThat(Cqe.isSend(Cqe.lastDword(elsewhere.segment(), second))).isTrue();
  }

  @Test
  void completionsOfAQueueWhoseEntryWasReturnedAreLost() {
    Host.Cq queue = left.cq(6);
    int key = left.lastKey();
    Host.Qp sender = connected(queue);
    writeByte(sender);
    assertThat(queue.take().failed()).isFalse();
    left.must(HcrCommand.HW2SW_MPT, 0, key);

    writeByte(sender);

    assertThat(queue.hasNext()).isFalse();
    assertThat(left.hca().faultCount()).isPositive();
    assertThat(sender.state()).isEqualTo(QpcState.ERR);
  }

  @Test
  void sendsAreReadWhereTheirQueueIsNow() {
    int key = pair.a.context.get(QueuePairContext.SEND_WQE_LKEY);
    move(left, key, pair.a.sendRing.segment(), left.function.allocate(PAGE));

    byte before = content;
    assertThat(write().bytes()).as("of the new place, which holds nothing").isZero();
    assertThat(target.memory().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo(before);
  }

  @Test
  void receivesAreReadWhereTheirQueueIsNow() {
    Piece into = new Piece(target, 0, 1);
    pair.b.receive(into);
    pair.a.send(new Piece(source, 0, 1));
    assertThat(pair.a.cq.take().failed()).isFalse();
    int key = pair.b.context.get(QueuePairContext.RECEIVE_WQE_LKEY);
    move(right, key, pair.b.receiveRing.segment(), right.function.allocate(PAGE));
    pair.b.receive(into);

    pair.a.send(new Piece(source, 0, 1));

    assertThat(pair.a.cq.hasNext()).as("done with a receive of the old place").isFalse();
  }

  /** Nothing changes in tables and mappings: the context alone names other memory. */
  @Test
  void receivesAreReadFromTheQueueOfTheContext() {
    int bytes = (int) pair.b.receiveRing.segment().byteSize();
    int key = right.register(right.function.allocate(bytes), 0, Host.LOCAL);
    Piece into = new Piece(target, 0, 1);
    pair.b.receive(into);
    pair.a.send(new Piece(source, 0, 1));
    assertThat(pair.a.cq.take().failed()).isFalse();
    pair.b.context.set(QueuePairContext.RECEIVE_WQE_LKEY, key);
    assertThat(pair.b.modify(HcrCommand.RTS2RTS, QpcState.RTS)).isZero();
    pair.b.receive(into);

    pair.a.send(new Piece(source, 0, 1));

    assertThat(pair.a.cq.hasNext()).as("done with a receive of the other queue").isFalse();
  }

  /** The length of the region of the queue is a negative number: its pages are those of the MTT. */
  @Test
  void queueOfAnAbsurdLengthStaysInItsPages() {
    Host.Cq queue = left.cq(8);
    int key = left.lastKey();
    long at = (long) MPT_PAGE * PAGE + (long) key * ENTRY;
    long first = Mpt.MTT_SEGMENT.getLong(left.icm.segment(), at);
    left.must(HcrCommand.HW2SW_MPT, 0, key);
    new Mpt(Host.LOCAL | 1 << 8 | 1 << 17, 0, key, Host.PD, 0, 1L << 63, 0, 0, 0, first, 0)
        .encode(left.in());
    left.must(HcrCommand.SW2HW_MPT, 0, key);
    DmaMapping elsewhere = left.function.allocate(PAGE);
    Cqe.fill(elsewhere.segment(), 0, PAGE / Cqe.SIZE);
    writeEntries(left, first + 1, elsewhere.iova(0));
    Host.Qp sender = connected(queue);
    for (int i = 0; i < PAGE / Cqe.SIZE; i++) {
      writeByte(sender);
      assertThat(queue.take().failed()).isFalse();
    }

    writeByte(sender);

    assertThat(queue.hasNext()).as("behind the page").isFalse();
    assertThat(Cqe.qpn(elsewhere.segment(), 0)).isEqualTo(sender.number);
  }

  /** Software writes a size into a context that the card owns; entries stay in their memory. */
  @ParameterizedTest
  @ValueSource(ints = {14, 26, 31, 58, 59, 63, 122, 255})
  void queueOfAnAbsurdSizeStaysInItsMemory(int logSize) {
    int entries = PAGE / Cqe.SIZE;
    Host.Cq queue = left.cq(7);
    int key = left.lastKey();
    Host.Qp sender = connected(queue);
    long at = (long) CQC_PAGE * PAGE + (long) queue.number * CQC_SLOT;
    MemorySegment context = left.icm.segment().asSlice(at, CompletionQueueContext.LAYOUT.size());
    assertThat(CompletionQueueContext.LOG_SIZE.get(context)).isEqualTo(7);
    CompletionQueueContext.LOG_SIZE.set(context, logSize);
    DmaMapping elsewhere = left.function.allocate(2 * PAGE);
    Cqe.fill(elsewhere.segment(), PAGE, entries);
    move(left, key, queue.ring, elsewhere);
    for (int i = 0; i < entries; i++) {
      writeByte(sender);
      assertThat(Cqe.qpn(elsewhere.segment(), (long) i * Cqe.SIZE)).isEqualTo(sender.number);
    }

    writeByte(sender);

    assertThat(Cqe.owner(elsewhere.segment(), PAGE)).as("behind it").isEqualTo(Cqe.SENTINEL);
    assertThat(left.hca().faultCount()).isPositive();
    assertThat(sender.state()).isEqualTo(QpcState.ERR);
  }

  /** The memory goes back to the system at once, and an access to it would end the JVM. */
  @Test
  void completionQueueIsUnmappedWhileItIsWritten() throws InterruptedException {
    for (int i = 0; i < 20; i++) {
      DmaMapping elsewhere = left.function.allocate(64 << 20);
      Host.Qp sender = senderInto(elsewhere);
      Thread closing = Thread.ofPlatform().start(elsewhere::close);
      while (sender.state() != QpcState.ERR) { // at the latest when the queue is full
        writeByte(sender);
      }
      closing.join();
    }
    assertThat(left.hca().faultCount()).isPositive();
  }

  /** The entry that the card writes in place belongs to memory that was given back since. */
  @Test
  void completionsToAClosedArenaAreLost() {
    Arena arena = Arena.ofShared();
    completionsAreLostAfter(arena::close, left.map(arena, PAGE));
  }

  @Test
  void completionsToUnmappedMemoryAreLost() {
    DmaMapping elsewhere = left.function.allocate(PAGE);
    MemorySegment memory = elsewhere.segment();
    completionsAreLostAfter(
        () -> {
          Cqe.fill(memory, 0, PAGE / Cqe.SIZE);
          elsewhere.close();
        },
        elsewhere);
    assertThat(Cqe.owner(memory, Cqe.SIZE)).as("that of a free entry").isEqualTo(Cqe.SENTINEL);
  }

  private void completionsAreLostAfter(Runnable end, DmaMapping elsewhere) {
    Host.Qp sender = senderInto(elsewhere);
    writeByte(sender);
    assertThat(Cqe.qpn(elsewhere.segment(), 0)).isEqualTo(sender.number);
    end.run();

    writeByte(sender);

    assertThat(left.hca().faultCount()).isPositive();
    assertThat(sender.state()).isEqualTo(QpcState.ERR);
  }

  /** A connected queue pair whose completions go to other memory. */
  private Host.Qp senderInto(DmaMapping elsewhere) {
    Host.Cq queue = left.cq(6);
    int key = left.lastKey();
    Host.Qp sender = connected(queue);
    move(left, key, queue.ring, elsewhere);
    return sender;
  }

  @Test
  void sendsInAClosedArenaAreUnreadable() {
    Arena arena = Arena.ofShared();
    sendsAreUnreadableAfter(arena::close, left.map(arena, PAGE));
  }

  @Test
  void sendsInUnmappedMemoryAreUnreadable() {
    DmaMapping elsewhere = left.function.allocate(PAGE);
    sendsAreUnreadableAfter(elsewhere::close, elsewhere);
  }

  private void sendsAreUnreadableAfter(Runnable end, DmaMapping elsewhere) {
    int key = pair.a.context.get(QueuePairContext.SEND_WQE_LKEY);
    move(left, key, pair.a.sendRing.segment(), elsewhere);
    assertThat(write().bytes()).as("of the new place, which holds nothing").isZero();
    end.run();

    pair.a.write(target, 0, new Piece(source, 0, 1));

    assertThat(left.hca().faultCount()).isPositive();
    assertThat(pair.a.state()).isEqualTo(QpcState.ERR);
  }

  @Test
  void receivesInAClosedArenaAreUnreadable() {
    Arena arena = Arena.ofShared();
    receivesAreUnreadableAfter(arena::close, right.map(arena, PAGE));
  }

  @Test
  void receivesInUnmappedMemoryAreUnreadable() {
    DmaMapping elsewhere = right.function.allocate(PAGE);
    receivesAreUnreadableAfter(elsewhere::close, elsewhere);
  }

  private void receivesAreUnreadableAfter(Runnable end, DmaMapping elsewhere) {
    int key = pair.b.context.get(QueuePairContext.RECEIVE_WQE_LKEY);
    move(right, key, pair.b.receiveRing.segment(), elsewhere);
    pair.a.send(new Piece(source, 0, 1));
    assertThat(pair.a.cq.hasNext()).as("done without a receive").isFalse();
    end.run();

    pair.simulation.advance(Duration.ofSeconds(1));

    assertThat(right.hca().faultCount()).isPositive();
    assertThat(pair.b.state()).isEqualTo(QpcState.ERR);
  }

  /** After CLOSE_HCA the same key may be of other memory. */
  @Test
  void closedCardKeepsNothing() {
    right.must(HcrCommand.CLOSE_HCA, 0, 0);
    right.renew();
    Host.Qp again = right.qp();
    Host.Buffer renewed = right.buffer(3 * PAGE, Host.ALL);
    Host.Qp sender = left.qp();
    Host.connect(left, sender, right, again);
    source.memory().fill(++content);
    sender.write(renewed, 0, new Piece(source, 0, 3 * PAGE));
    assertThat(sender.cq.take().failed()).isFalse();
    assertArrivesIn(renewed.memory());
  }
}

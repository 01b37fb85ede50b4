package org.hghca.driver.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.driver.Failures.assertErrno;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.hghca.driver.rtl.RtlFamily;
import org.hghca.driver.rtl.ring.KeyTable;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.Reregistration;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * On a card that stops when the memory of a request is unmapped, memory stays while a request names
 * it.
 */
class BusyMemoryTest {
  private static final long LIMIT = 10_000_000_000L;

  private final DriverFixture it = new DriverFixture("&profile=r1");
  private final HghcaQueuePair qp =
      (HghcaQueuePair)
          it.pd.createQueuePair(
              QueuePairConfig.rc(it.cq, it.cq)
                  .sendDepth(4)
                  .receiveDepth(4)
                  .maxSendSge(2)
                  .maxReceiveSge(2)
                  .maxInline(16)
                  .singleOwner()); // whose rings are searched by other threads
  private final MemoryRegion memory = region();
  private final MemoryRegion other = region();
  private final Completions completions = new Completions(4);

  private MemoryRegion region() {
    return it.pd.allocate(
        4096, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);
  }

  @BeforeEach
  void connect() {
    it.connect(qp);
  }

  @AfterEach
  void close() {
    qp.close();
    memory.close();
    other.close();
    it.close();
  }

  private void poll() {
    for (int i = 0; it.cq.poll(completions, 1) == 0; i++) {
      assertThat(i).as("polls").isLessThan(1000);
      Thread.yield();
    }
    assertThat(completions.isSuccess(0)).isTrue();
  }

  private void assertBusy() {
    assertErrno(Errno.EBUSY, memory::close)
        .hasMessageContaining("MR 0x%08x", memory.lkey())
        .hasMessageContaining("QP 0x%06x", qp.number());
    assertErrno(Errno.EBUSY, () -> memory.reregister(Reregistration.to(AccessFlag.LOCAL_WRITE)));
  }

  @Test
  void memoryOfASendIsBusyUntilItIsPolled() {
    SendRequest write = new SendRequest().rdmaWrite(other.address(), other.rkey());
    qp.postSend(write.sge(other, 0, 8).sge(memory, 0, 8).signaled());
    assertBusy();
    // Still named as before: another request may be posted.
    qp.postSend(write.rdmaWrite(other.address(), other.rkey()).sge(memory, 0, 8).signaled());
    poll();
    assertBusy();
    poll();
    memory.close();
    assertThatThrownBy(() -> qp.postSend(write))
        .isInstanceOf(BadRequestException.class)
        .hasMessageContaining("no memory region");
  }

  @Test
  void memoryReadByAReadOfThisDeviceIsBusyToo() {
    qp.postSend(new SendRequest().rdmaRead(memory.address(), memory.rkey()).sge(other, 0, 8));
    assertBusy();
  }

  @Test
  void memoryOfAReceiveIsBusyUntilItsQueuePairIsReset() {
    qp.postReceive(new ReceiveRequest().into(other, 0, 64).sge(memory, 0, 64));
    assertBusy();
    qp.modify(QpAttributes.to(QpState.RESET));
    memory.close();
  }

  @Test
  void inlineMemoryIsNotBusy() {
    qp.postSend(
        new SendRequest().rdmaWrite(other.address(), other.rkey()).sge(memory, 0, 16).inline());
    memory.close();
  }

  @Test
  void otherMemoryIsNotBusy() {
    qp.postSend(new SendRequest().rdmaWrite(other.address(), other.rkey()).sge(other, 0, 8));
    memory.close();
  }

  @Test
  void reregisteredMemoryIsCheckedInItsCurrentState() {
    memory.reregister(Reregistration.to(new AccessFlag[0]));
    assertThatThrownBy(() -> qp.postReceive(new ReceiveRequest().into(memory)))
        .hasMessageContaining("LOCAL_WRITE");
    MemorySegment page = Arena.ofAuto().allocate(8192, 4096);
    memory.reregister(Reregistration.to(page).and(AccessFlag.LOCAL_WRITE));
    qp.postReceive(new ReceiveRequest().into(memory, 4096, 4096));
    assertBusy();
  }

  /**
   * Otherwise a post between the search of the rings and the deregistration would go undetected.
   */
  @Test
  void keyIsRemovedBeforeTheRingsAreSearched() throws InterruptedException {
    MemoryRegion contended = region();
    CountDownLatch end = new CountDownLatch(1);
    CountDownLatch locked = new CountDownLatch(1);
    Thread poster =
        Thread.ofPlatform()
            .start(
                () ->
                    qp.sends()
                        .setOpen(
                            () -> {
                              locked.countDown(); // the ring's lock is held, as by a posting thread
                              awaitQuietly(end);
                              return true;
                            }));
    locked.await();
    Thread closer = Thread.ofPlatform().start(contended::close);
    KeyTable keys = ((RtlFamily) it.device.family()).regions().keys();
    long start = System.nanoTime();
    while (keys.find(contended.lkey()) != null && System.nanoTime() - start < LIMIT) {
      Thread.yield();
    }
    boolean gone = keys.find(contended.lkey()) == null;
    boolean waits = closer.isAlive();
    end.countDown();
    poster.join();
    closer.join();
    assertThat(gone).isTrue();
    assertThat(waits).isTrue();
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** No request that names freed memory is posted: the first thread wins. */
  @Test
  void postingAndDeregisteringAreSerialized() throws InterruptedException {
    int postedFirst = 0;
    int closedFirst = 0;
    for (int i = 0; i < 300 || postedFirst == 0 || closedFirst == 0; i++) {
      MemoryRegion contended = region();
      AtomicBoolean posted = new AtomicBoolean();
      boolean closed = false;
      AtomicInteger ready = new AtomicInteger();
      Thread poster =
          Thread.ofPlatform()
              .start(
                  () -> {
                    SendRequest send = new SendRequest().rdmaWrite(other.address(), other.rkey());
                    send.sge(contended, 0, 8).signaled();
                    meet(ready);
                    try {
                      qp.postSend(send);
                      posted.set(true);
                    } catch (BadRequestException e) {
                      posted.set(false);
                    }
                  });
      meet(ready);
      try {
        contended.close();
        closed = true;
      } catch (VerbsException e) {
        assertThat(e.errno()).isEqualTo(Errno.EBUSY);
      }
      poster.join();
      assertThat(posted.get()).isNotEqualTo(closed);
      postedFirst += posted.get() ? 1 : 0;
      closedFirst += closed ? 1 : 0;
      if (posted.get()) {
        poll();
        contended.close();
      }
    }
  }

  private static void meet(AtomicInteger ready) {
    ready.incrementAndGet();
    while (ready.get() < 2) {
      Thread.onSpinWait();
    }
  }
}

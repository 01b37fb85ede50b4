package org.hghca.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.hghca.verbs.Failures.assertErrno;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RegisteredBufferPoolTest {
  private static final int LKEY = 0x1234;

  private final ProtectionDomain domain =
      Fakes.of(
          ProtectionDomain.class,
          Map.of(
              "allocate",
              arguments ->
                  new FakeRegion(Arena.ofAuto().allocate((long) arguments[0], 4096), LKEY)));

  private RegisteredBufferPool pool(int count, long length) {
    return RegisteredBufferPool.of(domain, count, length, AccessFlag.LOCAL_WRITE);
  }

  @Test
  void buffersArePartsOfOneRegionAtAlignedOffsets() {
    RegisteredBufferPool pool =
        RegisteredBufferPool.of(domain, 5, 1000, 256, Set.of(AccessFlag.LOCAL_WRITE));
    assertThat(pool.size()).isEqualTo(5);
    assertThat(pool.available()).isEqualTo(5);
    assertThat(pool.region().length()).isEqualTo(4 * 1024 + 1000);
    for (int i = 0; i < 5; i++) {
      RegisteredBuffer buffer = pool.buffer(i);
      assertThat(buffer.index()).isEqualTo(i);
      assertThat(buffer.region()).isSameAs(pool.region());
      assertThat(buffer.offset()).isEqualTo(1024L * i);
      assertThat(buffer.length()).isEqualTo(1000);
      assertThat(buffer.segment().byteSize()).isEqualTo(1000);
      assertThat(buffer.address()).isEqualTo(buffer.segment().address());
    }
  }

  @Test
  void buffersAreAlignedToCacheLinesByDefault() {
    assertThat(pool(2, 65).buffer(1).offset()).isEqualTo(128);
  }

  @Test
  void everyBufferIsAllocatedOnceAndTheLastReleasedIsFirst() {
    RegisteredBufferPool pool = pool(3, 64);
    RegisteredBuffer a = pool.tryAcquire();
    RegisteredBuffer b = pool.tryAcquire();
    RegisteredBuffer c = pool.tryAcquire();
    assertThat(List.of(a.index(), b.index(), c.index())).containsExactlyInAnyOrder(0, 1, 2);
    assertThat(pool.tryAcquire()).isNull();
    assertThat(pool.available()).isZero();
    a.close();
    c.close();
    b.close();
    assertThat(pool.tryAcquire()).isSameAs(b);
    assertThat(pool.tryAcquire()).isSameAs(c);
    assertThat(pool.tryAcquire()).isSameAs(a);
  }

  @Test
  void secondReleaseIsRefused() {
    RegisteredBufferPool pool = pool(2, 64);
    RegisteredBuffer buffer = pool.tryAcquire();
    buffer.close();
    assertThatThrownBy(buffer::close)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("buffer " + buffer.index());
    assertThatThrownBy(pool.buffer(1)::close).isInstanceOf(IllegalStateException.class);
    assertThat(pool.available()).isEqualTo(2);
  }

  @Test
  void closingWithAllocatedBuffersFailsAndChangesNothing() {
    RegisteredBufferPool pool = pool(3, 64);
    RegisteredBuffer a = pool.tryAcquire();
    RegisteredBuffer b = pool.tryAcquire();
    assertErrno(Errno.EBUSY, pool::close).hasMessageContaining("2 of 3 buffers are in use");
    a.close();
    assertThat(pool.tryAcquire()).isSameAs(a);
    a.close();
    b.close();
    pool.close();
    pool.close();
    assertThat(pool.available()).isZero();
    assertThatThrownBy(pool::tryAcquire).hasMessageContaining("closed");
    assertThatThrownBy(pool::acquire).hasMessageContaining("closed");
    assertThatThrownBy(() -> pool.acquire(Duration.ZERO)).hasMessageContaining("closed");
  }

  @Test
  void regionThatCannotBeClosedLeavesThePoolUnchanged() {
    boolean[] busy = {true};
    FakeRegion memory = new FakeRegion(Arena.ofAuto().allocate(128), LKEY);
    MemoryRegion region =
        Fakes.of(
            MemoryRegion.class,
            Map.of(
                "segment",
                arguments -> memory.segment(),
                "close",
                arguments -> {
                  if (busy[0]) {
                    throw new VerbsException(Errno.EBUSY, "in use by native code");
                  }
                  return null;
                }));
    RegisteredBufferPool pool =
        RegisteredBufferPool.of(
            Fakes.of(ProtectionDomain.class, Map.of("allocate", arguments -> region)), 2, 64);
    assertThatThrownBy(pool::close).hasMessageContaining("native code");
    assertThat(pool.available()).isEqualTo(2);
    pool.tryAcquire().close();
    busy[0] = false;
    pool.close();
    assertThatThrownBy(pool::tryAcquire).hasMessageContaining("closed");
  }

  @Test
  void waitingEndsWithARelease() throws InterruptedException {
    RegisteredBufferPool pool = pool(1, 64);
    RegisteredBuffer only = pool.acquire();
    assertThat(pool.acquire(Duration.ofNanos(1))).isEmpty();
    AtomicReference<RegisteredBuffer> found = new AtomicReference<>();
    Thread waiter =
        Thread.ofVirtual()
            .start(
                () -> assertThatCode(() -> found.set(pool.acquire())).doesNotThrowAnyException());
    awaitWaiting(waiter);
    only.close();
    waiter.join();
    assertThat(found.get()).isSameAs(only);
    only.close();
    assertThat(pool.acquire(Duration.ofDays(1))).containsSame(only);
  }

  @Test
  void closingThePoolEndsAWait() throws InterruptedException {
    RegisteredBufferPool pool = pool(1, 64);
    RegisteredBuffer only = pool.acquire();
    List<Thread> waiters = new ArrayList<>();
    List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
    for (int i = 0; i < 4; i++) {
      waiters.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    Throwable thrown =
                        catchThrowable(
                            () -> {
                              while (true) {
                                pool.acquire().close();
                              }
                            });
                    failures.add(thrown);
                  }));
    }
    waiters.forEach(RegisteredBufferPoolTest::awaitWaiting);
    only.close();
    // Waiters may hold the buffer at the first attempts.
    while (catchThrowable(pool::close) != null) {
      Thread.onSpinWait();
    }
    for (Thread waiter : waiters) {
      waiter.join();
    }
    assertThat(failures)
        .hasSize(4)
        .allSatisfy(failure -> assertThat(failure).hasMessageContaining("closed: EINVAL"));
  }

  @Test
  void waitingThreadCanBeInterrupted() throws InterruptedException {
    RegisteredBufferPool pool = pool(1, 64);
    RegisteredBuffer only = pool.acquire();
    AtomicReference<Throwable> found = new AtomicReference<>();
    Thread waiter = Thread.ofPlatform().start(() -> found.set(catchThrowable(pool::acquire)));
    awaitWaiting(waiter);
    waiter.interrupt();
    waiter.join();
    assertThat(found.get()).isInstanceOf(InterruptedException.class);
    only.close();
    assertThat(pool.available()).isEqualTo(1);
  }

  @Test
  void noBufferIsAllocatedToTwoThreads() throws InterruptedException {
    RegisteredBufferPool pool = pool(3, 64);
    CyclicBarrier start = new CyclicBarrier(6);
    AtomicInteger waits = new AtomicInteger();
    List<Thread> threads = new ArrayList<>();
    List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
    for (int t = 1; t <= 6; t++) {
      long mark = t;
      threads.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    Throwable failure =
                        catchThrowable(
                            () -> {
                              start.await();
                              use(pool, mark, waits);
                            });
                    if (failure != null) {
                      failures.add(failure);
                    }
                  }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(failures).isEmpty();
    assertThat(pool.available()).isEqualTo(3);
    pool.close();
  }

  private static void awaitWaiting(Thread thread) {
    while (thread.getState() != Thread.State.WAITING) {
      assertThat(thread.isAlive()).isTrue();
      Thread.onSpinWait();
    }
  }

  private static void use(RegisteredBufferPool pool, long mark, AtomicInteger waits)
      throws InterruptedException {
    for (int i = 0; i < 20_000 || waits.get() == 0; i++) { // until the threads have met
      RegisteredBuffer buffer = i % 2 == 0 ? pool.acquire() : pool.tryAcquire();
      if (buffer != null) {
        buffer.segment().set(ValueLayout.JAVA_LONG, 0, mark);
        Thread.onSpinWait();
        assertThat(buffer.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(mark);
        buffer.close();
      } else {
        waits.incrementAndGet();
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "0, 64, 64, 0 buffers",
    "-1, 64, 64, -1 buffers",
    "1, 0, 64, 0 bytes",
    "2, 9223372036854775807, 64, buffers",
    "1, 64, 0, aligned to 0",
    "1, 64, 48, aligned to 48",
    "1, 64, 8192, aligned to 8192",
    "1, 64, -9223372036854775808, aligned to",
  })
  void impossiblePoolsAreRefused(int count, long length, long alignment, String words) {
    assertErrno(
            Errno.EINVAL, () -> RegisteredBufferPool.of(domain, count, length, alignment, Set.of()))
        .hasMessageContaining(words);
  }

  @Test
  void requestsTakeABufferInOneCall() {
    RegisteredBufferPool pool = pool(2, 100);
    RegisteredBuffer buffer = pool.buffer(1);
    SendRequest send = new SendRequest().send().sge(buffer).sge(buffer, 7);
    assertThat(send.sgeCount()).isEqualTo(2);
    assertThat(send.sgeAddress(0)).isEqualTo(buffer.address());
    assertThat(send.sgeLength(0)).isEqualTo(100);
    assertThat(send.sgeLkey(0)).isEqualTo(LKEY);
    assertThat(send.sgeLength(1)).isEqualTo(7);
    assertThatThrownBy(() -> send.sge(buffer, 101)).isInstanceOf(IndexOutOfBoundsException.class);
    ReceiveRequest receive = new ReceiveRequest().into(pool.buffer(0)).into(buffer).sge(buffer);
    assertThat(receive.sgeCount()).isEqualTo(2);
    assertThat(receive.sgeAddress(1)).isEqualTo(buffer.address());
    assertThat(receive.sgeLength(0)).isEqualTo(100);
    assertThat(receive.sgeLkey(0)).isEqualTo(LKEY);
  }
}
